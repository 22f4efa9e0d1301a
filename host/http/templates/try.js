// Calls actions from the page of their capability, as an anonymous agent that this tab registers once. What is
// shown are answers of others: it is set as text, never as markup.

const KEY = "reference-agent";
// Less than the life of a token, so that none expires on its way.
const SPARE_MS = 60_000;

const stored = () => {
  try {
    return JSON.parse(sessionStorage.getItem(KEY));
  } catch {
    return null;
  }
};

let agent = stored();

const keep = (value) => {
  agent = value;
  try {
    sessionStorage.setItem(KEY, JSON.stringify(value));
  } catch {
    // Without storage, the agent lasts as long as the page.
  }
};

/** A refusal of the host, with its envelope. */
class Refused extends Error {
  constructor(status, envelope) {
    super(envelope.message ?? envelope.error_description ?? "The host refused the request.");
    this.status = status;
    this.envelope = envelope;
  }
}

const send = async (path, headers, body) => {
  const response = await fetch(path, {
    method: "POST",
    headers: { accept: "application/json", ...headers },
    body,
    credentials: "omit",
  });
  return { status: response.status, ok: response.ok, answer: await response.json() };
};

const granted = async (path, type, body) => {
  const { status, ok, answer } = await send(path, { "content-type": type }, body);
  if (!ok) throw new Refused(status, answer);
  return answer;
};

const register = async (mode) => {
  const body = JSON.stringify({ type: "anonymous", agent_name: "Reference page", mode });
  const registered = await granted("/v1/agents/register", "application/json", body);
  keep({ mode, client_id: registered.client_id, client_secret: registered.client_secret });
};

const renew = async () => {
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: agent.client_id,
    client_secret: agent.client_secret,
  });
  const type = "application/x-www-form-urlencoded";
  const { access_token, expires_in } = await granted("/oauth/token", type, body.toString());
  keep({ ...agent, token: access_token, until: Date.now() + expires_in * 1000 - SPARE_MS });
};

/** Returns a token. An agent that the host no longer knows is replaced once. */
const token = async (mode) => {
  const isKnown = agent?.mode === mode;
  if (isKnown && agent.token && agent.until > Date.now()) return agent.token;
  if (!isKnown) await register(mode);
  try {
    await renew();
  } catch (error) {
    if (!isKnown || !(error instanceof Refused)) throw error;
    await register(mode);
    await renew();
  }
  return agent.token;
};

const element = (name, text, attributes = {}) => {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
};

const block = (label, text) => {
  const shown = element("pre", "", { class: "snippet", tabindex: "0", role: "region", "aria-label": label });
  shown.append(element("code", text));
  return shown;
};

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

const curl = (path, body) =>
  `curl -s ${quoted(new URL(path, location.href).href)} \\\n` +
  `  -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\\n  -d ${quoted(body)}`;

/** Returns what to do about a refusal, as elements. */
const advice = (code, envelope) => {
  const told = element("p", "");
  const own = `error-${code}`;
  const href = document.getElementById(own) ? `#${own}` : `/docs/errors#${code}`;
  told.append(element("a", `What to do about ${code}`, { href }));
  const seconds = envelope.next?.after_s;
  if (seconds) told.append(`. Wait ${seconds} seconds, then call again.`);
  return told;
};

const problem = (output, text) => output.replaceChildren(element("p", text, { class: "problem" }));

const show = (output, { status, ok, answer }, milliseconds, line) => {
  const summary = `${status} ${ok ? "answered" : answer.error_code} in ${milliseconds} ms`;
  const parts = [element("p", summary, ok ? {} : { class: "problem" })];
  if (!ok) parts.push(element("p", answer.message), advice(answer.error_code, answer));
  parts.push(block("Answer", JSON.stringify(answer, null, 2)));
  parts.push(element("p", "The same call with curl:", { class: "quiet" }), block("Call with curl", line));
  output.replaceChildren(...parts);
};

const call = async (form, output) => {
  const { path, action, mode } = form.dataset;
  let input;
  try {
    input = JSON.parse(form.elements.input.value);
  } catch (error) {
    return problem(output, `The input is not JSON: ${error.message}`);
  }
  if (input === null || typeof input !== "object" || Array.isArray(input)) {
    return problem(output, "The input is not a JSON object.");
  }
  const body = JSON.stringify({ ...input, action });
  output.replaceChildren(element("p", "Calling …"));
  try {
    const headers = { authorization: `Bearer ${await token(mode)}`, "content-type": "application/json" };
    const started = performance.now();
    const answered = await send(path, headers, body);
    show(output, answered, Math.round(performance.now() - started), curl(path, body));
    if (answered.status === 401) keep(null);
  } catch (error) {
    if (!(error instanceof Refused)) {
      return problem(output, "The host does not answer. Check the network, then call again.");
    }
    const code = error.envelope.error_code ?? error.envelope.error;
    problem(output, `${error.status} ${code}: ${error.message}`);
    output.append(advice(code, error.envelope));
  }
};

for (const form of document.querySelectorAll("form.try")) {
  const output = form.querySelector(".answer");
  const button = form.querySelector("button");
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.getAttribute("aria-disabled") === "true") return;
    // A disabled button would lose the focus of the keyboard.
    button.setAttribute("aria-disabled", "true");
    await call(form, output);
    button.removeAttribute("aria-disabled");
  });
}
