// Writes the times of a page in the zone and the language of the browser. The time in UTC stays in the title.

const DAY = { year: "numeric", month: "long", day: "numeric" };
const HOUR = { ...DAY, hour: "numeric", timeZoneName: "short" };
const FORMATS = { minute: { ...HOUR, minute: "2-digit" }, hour: HOUR, day: DAY };

const utc = (at) => `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;

for (const element of document.querySelectorAll("time[data-precision]")) {
  const at = new Date(element.dateTime);
  const format = FORMATS[element.dataset.precision];
  if (!format || Number.isNaN(at.getTime())) continue;
  const written = new Intl.DateTimeFormat(navigator.languages, format);
  element.textContent = written.format(at);
  element.title = utc(at);
  element.lang = written.resolvedOptions().locale;
}
