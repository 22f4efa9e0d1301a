// An MCP application with the official TypeScript client, in both revisions of the protocol.
//
// node mcp.mjs URL OUTBOX

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { register, token } from "./endpoint.mjs";
import { Person, code, messages } from "./person.mjs";

const [url, outbox] = process.argv.slice(2);
const endpoint = new URL(`${url}/mcp`);

/** Signs in as an application with a browser does; keeps everything in memory. */
class Browser {
  #kept = {};
  redirectUrl = "http://localhost:8126/callback";
  clientMetadata = {
    client_name: "A client of MCP",
    redirect_uris: [this.redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "none",
  };

  constructor(phone) {
    this.person = new Person(outbox, phone);
  }

  clientInformation = () => this.#kept.client;
  saveClientInformation = (client) => void (this.#kept.client = client);
  tokens = () => this.#kept.tokens;
  saveTokens = (tokens) => void (this.#kept.tokens = tokens);
  codeVerifier = () => this.#kept.verifier;
  saveCodeVerifier = (verifier) => void (this.#kept.verifier = verifier);

  async redirectToAuthorization(address) {
    this.asked = address;
    this.sentTo = new URL(await this.person.allow(address));
  }
}

function client(mode, options = {}) {
  const info = { name: "mcp.mjs", version: "1.0.0" };
  return new Client(info, { versionNegotiation: { mode }, ...options });
}

/** Connects, and signs in if the host requires it. */
async function connect(mode, authProvider, options) {
  for (;;) {
    const connected = client(mode, options);
    const transport = new StreamableHTTPClientTransport(endpoint, { authProvider });
    try {
      await connected.connect(transport);
      return { connected, transport };
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || !authProvider.sentTo) throw error;
      await transport.finishAuth(authProvider.sentTo.searchParams);
      authProvider.sentTo = undefined;
    }
  }
}

async function reads(connected) {
  const { tools } = await connected.listTools();
  const names = tools.map(({ name }) => name);
  for (const name of ["faq_search", "ledger_read", "svc_phone-binding_claim"]) assert(names.includes(name), `${names}`);
  const found = await call(connected, "faq_search", { action: "search", query: "phone" });
  assert(!found.isError, JSON.stringify(found));
}

const call = (connected, name, input) => connected.callTool({ name, arguments: input });
const open = () => ({ action: "open", account: randomUUID() });

async function writes(connected) {
  const opened = await call(connected, "ledger_write", open());
  assert(!opened.isError, JSON.stringify(opened));
  assert.equal(opened.structuredContent.result.balance, 0);
}

for (const [number, mode] of ["auto", "legacy"].entries()) {
  test(`a client by itself is claimed and writes: ${mode}`, async () => {
    const agent = await register(url, "client");
    const provider = new ClientCredentialsProvider({
      clientId: agent.client_id, clientSecret: agent.client_secret, expectedIssuer: url,
    });
    const { connected } = await connect(mode, provider);
    await reads(connected);
    const refused = await call(connected, "ledger_write", open());
    assert.equal(refused.structuredContent.error_code, "phone_binding_required");
    assert(refused.isError);
    const phone = `+1201555016${number}`;
    const bound = await call(connected, "svc_phone-binding_claim", { action: "bind", phone });
    assert(!bound.isError, JSON.stringify(bound));
    const verified = await call(connected, "svc_phone-binding_claim", { action: "verify", code: await code(outbox, phone) });
    assert(!verified.isError, JSON.stringify(verified));
    await writes(connected);
    await connected.close();
  });

  test(`a person signs in and lets it write: ${mode}`, async () => {
    const { connected } = await connect(mode, new Browser(`+1201555017${number}`));
    await reads(connected);
    await writes(connected);
    await connected.close();
  });

  test(`a token for too little is stepped up: ${mode}`, async () => {
    const browser = new Browser(`+1201555018${number}`);
    const { connected, transport } = await connect(mode, browser);
    await connected.close();
    // The token is narrowed to the scope `svc.read`, as if the person had allowed nothing else.
    const form = {
      grant_type: "refresh_token", client_id: browser.clientInformation().client_id,
      refresh_token: browser.tokens().refresh_token, scope: "svc.read", resource: endpoint.href,
    };
    const narrowed = await fetch(`${url}/oauth/token`, { method: "POST", body: new URLSearchParams(form) });
    assert.equal(narrowed.status, 200);
    const { refresh_token, ...tokens } = await narrowed.json();
    browser.saveTokens(tokens);
    browser.sentTo = undefined;
    const again = await connect(mode, browser);
    await reads(again.connected);
    await assert.rejects(call(again.connected, "ledger_write", open()), UnauthorizedError);
    assert(browser.asked.searchParams.get("scope").split(" ").includes("svc.write"));
    await again.transport.finishAuth(browser.sentTo.searchParams);
    await writes(again.connected);
    await again.connected.close();
  });

  test(`a person is asked in place: ${mode}`, async () => {
    const agent = await register(url, "client");
    const bearer = await token(url, agent);
    const phone = `+1201555019${number}`;
    const connected = client(mode, { capabilities: { elicitation: { form: {} } } });
    const asked = [];
    connected.setRequestHandler("elicitation/create", async ({ params }) => {
      const [field] = params.requestedSchema.required;
      asked.push(field);
      const answer = field === "phone" ? phone : await code(outbox, phone);
      return { action: "accept", content: { [field]: answer } };
    });
    await connected.connect(new StreamableHTTPClientTransport(endpoint, { authProvider: { token: async () => bearer } }));
    await writes(connected);
    assert.deepEqual(asked, ["phone", "code"]);
    assert.equal((await messages(outbox, phone)).length, 1);
    await connected.close();
  });
}
