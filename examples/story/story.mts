// Two people find each other, talk, meet, are introduced to a third one, and part, each through an agent, over
// REST alone. References are written, and an agent asks before it does more.
//
// Run it against a host (`cargo xtask serve`), with Node 22.18 or newer, and nothing else:
//
//     node examples/story/story.mts [http://127.0.0.1:8080]
//
// All calls are in test mode, where each agent that claims +1 415 555 0100 has its own person.

const url = (process.argv[2] ?? "http://127.0.0.1:8080").replace(/\/+$/, "");

type Json = { [name: string]: any };
type Answer = { status: number; body: Json };

async function request(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
  try {
    const answer = await fetch(url + path, { method, ...init });
    return { status: answer.status, body: (await answer.json()) as Json };
  } catch (error) {
    return fail(`no host answers at ${url} (${error}): start one with \`cargo xtask serve\``);
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

/** One agent, which acts for a person once that person has claimed it. */
class Agent {
  readonly name: string;
  readonly events: Json[] = [];
  ownerId = "";
  private heard = 0;
  private readonly token: string;
  private cursor?: string;

  private constructor(name: string, token: string) {
    this.name = name;
    this.token = token;
  }

  static async register(name: string): Promise<Agent> {
    const agent = await request("POST", "/v1/agents/register", {
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ type: "anonymous", agent_name: name, mode: "test" }),
    });
    const grant = await request("POST", "/oauth/token", {
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: agent.body.client_id,
        client_secret: agent.body.client_secret,
        scope: "svc.read svc.write svc.events",
      }),
    });
    return new Agent(name, grant.body.access_token);
  }

  private send(method: string, path: string, body?: Json): Promise<Answer> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.token}` };
    if (body === undefined) {
      return request(method, path, { headers });
    }
    headers["content-type"] = "application/json";
    return request(method, path, { headers, body: JSON.stringify(body) });
  }

  tryCall(capability: string, action: string, fields: Json = {}): Promise<Answer> {
    return this.send("POST", `/v1/capabilities/${capability}/call`, { action, ...fields });
  }

  /** Returns the result. After `rate_limited`, waits as long as it says and calls again. */
  async call(capability: string, action: string, fields: Json = {}): Promise<Json> {
    let answer = await this.tryCall(capability, action, fields);
    for (let round = 0; round < 5 && answer.body.error_code === "rate_limited"; round += 1) {
      await new Promise((done) => setTimeout(done, 1000 * (answer.body.next?.after_s ?? 1)));
      answer = await this.tryCall(capability, action, fields);
    }
    if (answer.status !== 200) {
      const refusal = JSON.stringify(answer.body, null, 2);
      fail(`${this.name}: ${capability} ${action} is refused: ${refusal}`);
    }
    console.log(`${this.name}: ${capability} ${action}`);
    return answer.body.result;
  }

  /**
   * Returns the next event of this type after the one that was returned last. Reads and acknowledges events until
   * there is one; others may come before and after it.
   */
  async hears(wanted: string): Promise<Json> {
    const find = () =>
      this.events.findIndex((event, place) => place >= this.heard && event.type === wanted);
    while (find() < 0) {
      const query = new URLSearchParams({ wait: "20" });
      if (this.cursor !== undefined) {
        query.set("cursor", this.cursor);
      }
      const { status, body: page } = await this.send("GET", `/v1/agent-events/stream?${query}`);
      if (status !== 200 || page.events.length === 0) {
        fail(`${this.name} waits for ${wanted} in vain: ${JSON.stringify(page, null, 2)}`);
      }
      this.cursor = page.cursor;
      for (const event of page.events) {
        console.log(`${this.name} hears ${event.type}: ${event.data.summary ?? ""}`);
        this.events.push(event);
      }
      const ids = page.events.map((event: Json) => event.id);
      await this.send("POST", "/v1/agent-events/ack", { ack_event_ids: ids });
    }
    this.heard = find() + 1;
    return this.events[this.heard - 1]!;
  }
}

/** Returns the instant that many days and hours after today's midnight in UTC. */
function hour(days: number, hours: number): string {
  const day = new Date();
  day.setUTCHours(24 * days + hours, 0, 0, 0);
  return day.toISOString();
}

function slot(days: number, hours: number): Json {
  return { start: hour(days, hours), end: hour(days, hours + 1) };
}

function expect(condition: boolean, what: unknown): void {
  if (!condition) {
    fail(`not as expected: ${JSON.stringify(what, null, 2)}`);
  }
}

/** Registers an agent and claims it; until it is claimed, it can only read. */
async function claimed(name: string): Promise<Agent> {
  const agent = await Agent.register(name);
  const refused = await agent.tryCall("owners", "update_profile", { display_name: name });
  expect(refused.body.error_code === "phone_binding_required", refused);
  await agent.call("svc.phone-binding", "bind", { phone: "+14155550100" });
  const verified = await agent.call("svc.phone-binding", "verify", { code: "424242" });
  agent.ownerId = verified.owner_id;
  await agent.call("owners", "update_profile", { display_name: name, city: "San Francisco" });
  return agent;
}

const ada = await claimed("Ada");
const bo = await claimed("Bo");

const job = await ada.call("agent_listings", "create", {
  category: "work.job.software",
  side: "offer",
  publish: true,
  title: "Rust engineer for a small team",
  description: "We build tools for people who move.",
  attributes: { employment_type: "FULL_TIME", seniority: "senior", skills: ["Rust"] },
  criteria: { must: [{ field: "skills", op: "eq", value: "Rust" }] },
});
const candidate = await bo.call("agent_listings", "create", {
  category: "work.candidate.software",
  side: "demand",
  publish: true,
  title: "Engineer who writes Rust",
  description: "Ten years, of which five with Rust.",
  attributes: {
    employment_types: ["FULL_TIME"],
    seniority: "senior",
    skills: ["Rust", "PostgreSQL"],
  },
  criteria: { want: [{ field: "seniority", op: "eq", value: "senior" }] },
});

// A picture of 16 by 12 pixels. It is sent to an address of its own, without a token.
const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAMCAIAAADkharWAAAAF0lEQVR42mPUiKpg" +
    "IAUwMZAIRjWMFA0AWe4BEiAaYwQAAAAASUVORK5CYII=",
  "base64",
);
const begun = await ada.call("media", "create", {
  kind: "picture",
  bytes: picture.length,
  title: "The colour of our office",
  listing_id: job.listing_id,
});
const sent = await fetch(begun.upload.url, { method: "PUT", body: picture });
if (sent.status !== 201) fail(`the picture is refused: ${await sent.text()}`);
await ada.hears("media.ready");
const shown = (await bo.call("media", "about", { listing_id: job.listing_id })).items[0];
const seen = await fetch(shown.url);
if (seen.headers.get("content-type") !== "image/jpeg") fail("it is no picture");
console.log(`Bo sees “${shown.title}”, ${shown.width} pixels wide.`);

const session = await ada.call("matching_sessions", "create", {
  listing_id: job.listing_id,
  batch_size: 20,
});
const found = await ada.call("matching_sessions", "candidates", {
  session_id: session.session_id,
  limit: 100,
});
const match = found.items.find(
  (item: Json) => item.listing_card.listing_id === candidate.listing_id,
);
expect(match !== undefined, found);
const reasons = match.reasons.map((reason: Json) => reason.field).join(", ");
console.log(
  `Ada finds “${match.listing_card.title}”, score ${match.score}, because of ${reasons}`,
);

const pairing = await ada.call("pairings", "propose", {
  from_listing_id: job.listing_id,
  to_listing_id: candidate.listing_id,
  message: "Your five years of Rust caught my eye.",
});
const asked = await bo.hears("pairing.proposed");
await bo.call("pairings", "reply", {
  pairing_id: asked.data.resource.id,
  decision: "ask",
  message: "Is it four or five days a week?",
});
await ada.hears("pairing.replied");
await ada.call("pairings", "message", {
  pairing_id: pairing.pairing_id,
  message: "Four, if you like.",
});
await bo.hears("pairing.message");
const connected = await bo.call("pairings", "reply", {
  pairing_id: pairing.pairing_id,
  decision: "accept",
});
const thread_id = connected.thread_id;
await ada.hears("pairing.connected");

await ada.call("conversations", "send", { thread_id, text: "Good to meet you. Shall we talk?" });
await bo.hears("conversation.message");
await bo.call("conversations", "send", { thread_id, text: "Gladly.", intent: "answer" });
await ada.hears("conversation.message");

const meeting = await ada.call("thread_meetings", "propose", {
  thread_id,
  title: "A first talk",
  duration_min: 60,
  slots: [slot(3, 17), slot(3, 19), slot(4, 17)],
  time_zone: "America/Los_Angeles",
});
await bo.hears("meeting.proposed");
const countered = await bo.call("thread_meetings", "counter", {
  meeting_id: meeting.meeting_id,
  slots: [slot(5, 18)],
  note: "I am on a train until then.",
});
await ada.hears("meeting.countered");
const agreed = await ada.call("thread_meetings", "accept_counter", {
  meeting_id: meeting.meeting_id,
  slot_id: countered.counter.slots[0].slot_id,
});
for (const agent of [ada, bo]) {
  await agent.hears("meeting.confirmed");
  const times = { start: hour(5, 17), end: hour(5, 20) };
  const busy = await agent.call("calendar", "get_freebusy", times);
  expect(busy.periods.some((item: Json) => item.fbtype === "BUSY"), busy);
}
console.log(`Both meet at ${agreed.chosen_slot.start}.`);

const plan = { owner_ids: [bo.ownerId], title: "The contract", may_book: true };
const { group_id } = await ada.call("availability_finder", "invite", plan);
await bo.hears("availability.invited");
await bo.call("availability_finder", "accept", { group_id });
await ada.hears("availability.answered");
const hourOf = { group_id, duration_min: 60 };
const window = { from: hour(5, 18), to: hour(6, 18) };
const times = await ada.call("availability_finder", "find", { ...hourOf, ...window });
const { start } = times.items[0];
expect(start >= agreed.chosen_slot.end, times);
await ada.call("availability_finder", "book", { ...hourOf, start });
await bo.hears("availability.booked");
console.log(`They sign it at ${start}: the first hour that suits both.`);

const disclosed = { pairing_id: pairing.pairing_id, fields: ["email"] };
await ada.call("pairings", "disclose", { ...disclosed, details: { email: "ada@work.example" } });
await bo.call("pairings", "disclose", { ...disclosed, details: { email: "bo@home.example" } });
for (const agent of [ada, bo]) {
  await agent.hears("pairing.contact_exchanged");
}
const { contact } = await bo.call("pairings", "get", { pairing_id: pairing.pairing_id });
expect(contact.email === "ada@work.example", contact);

const cleo = await claimed("Cleo");
await bo.call("social_relationships", "connect", { owner_id: cleo.ownerId });
await cleo.hears("relationship.requested");
await cleo.call("social_relationships", "accept", { owner_id: bo.ownerId, kind: "connect" });
await bo.hears("relationship.accepted");
const { intro_id } = await ada.call("intros", "request", {
  introducer_id: bo.ownerId,
  target_id: cleo.ownerId,
  reason: "She knows how small teams hire, and we are about to.",
});
await bo.hears("intro.requested");
await bo.call("intros", "respond", {
  intro_id,
  decision: "accept",
  note: "I work with Ada, and you would like her.",
});
await cleo.hears("intro.requested");
const introduced = await cleo.call("intros", "respond", { intro_id, decision: "accept" });
await ada.hears("intro.completed");
await ada.call("conversations", "send", {
  thread_id: introduced.thread_id,
  text: "Thank you for taking the time.",
});
await cleo.hears("conversation.message");

const { application_id } = await cleo.call("applications", "apply", {
  listing_id: job.listing_id,
  message: "Bo told me about your team.",
  profile: { headline: "Engineer who hires for small teams" },
});
await ada.hears("application.received");
await ada.call("applications", "decide", { application_id, decision: "offer" });
await cleo.hears("application.decided");
await cleo.call("applications", "answer", { application_id, answer: "accept" });
await ada.hears("application.answered");
const words: [Agent, string][] = [
  [ada, "Good questions, and answers the same day."],
  [cleo, "Did what was agreed."],
];
for (const [agent, text] of words) {
  await agent.hears("reference.invited");
  const open = await agent.call("references", "encounters", { open_only: true });
  const { encounter_id } = open.items[0];
  const claims = ["clear_communication", "again"];
  await agent.call("references", "write", { encounter_id, text, claims });
  // Neither sees what the other has written before both are shown.
  const received = await agent.call("references", "list", { role: "received" });
  expect(received.items.length === 0, received);
}
console.log("Ada and Cleo wrote about each other. Both references are shown in an hour.");

await ada.call("pairings", "close", { pairing_id: pairing.pairing_id, outcome: "hired" });
for (const agent of [ada, bo]) await agent.hears("pairing.closed");

// Bo's agent limits itself: from now on, Bo is asked before it contacts strangers. Only Bo undoes that.
await bo.call("approvals", "tighten", { ask_first_contact: true });
const follow = { owner_id: cleo.ownerId };
const refused = await bo.tryCall("social_relationships", "follow", follow);
expect(refused.status === 403 && refused.body.error_code === "approval_required", refused);
await bo.hears("approval.requested");
const waiting = await bo.call("approvals", "list", { state: ["waiting"] });
const { approval_id, title } = waiting.items[0];
expect(approval_id === refused.body.conflict.approval_id, waiting);
console.log(`Bo is asked on the account page: ${title}.`);
const cancelled = await bo.call("approvals", "cancel", { approval_id });
expect(cancelled.state === "cancelled", cancelled);
await bo.hears("approval.decided");
const types = (agent: Agent) => agent.events.map((event) => event.type);
console.log(JSON.stringify({ Ada: types(ada), Bo: types(bo) }));
