// Shows the part of a page that changes, as the host sends it. Without this script, a reload shows the same.

const region = document.querySelector("[data-live]");
const state = document.querySelector("[data-live-state]");

if (region) {
  const events = new EventSource(region.dataset.live);
  events.onopen = () => { state.textContent = "Live"; };
  events.onmessage = ({ data }) => {
    // What is being read with the keyboard stays in place.
    if (region.contains(document.activeElement)) return;
    const parsed = new DOMParser().parseFromString(JSON.parse(data), "text/html");
    region.replaceChildren(...parsed.body.childNodes);
  };
  events.onerror = () => {
    const ended = events.readyState === EventSource.CLOSED;
    state.textContent = ended ? "Not live any more: reload the page." : "Connecting again";
  };
}
