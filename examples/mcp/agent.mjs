// An agent over MCP, with the official TypeScript client: it signs in with credentials of its own,
// lists the tools, reads, and writes once a person has claimed it.
//
// Run it against a host (`cargo xtask serve`), with Node.js 20 or newer:
//
//     npm install --prefix examples/mcp @modelcontextprotocol/client@2.4.0
//     node examples/mcp/agent.mjs [http://127.0.0.1:8080]
//
// The agent is in test mode, where the phone number +1 415 555 0100 and the code 424242 claim it.

import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const url = (process.argv[2] ?? "http://127.0.0.1:8080").replace(/\/+$/, "");
const profile = { action: "update_profile", display_name: "Ada", city: "San Francisco" };

/** Registers an agent and returns its credentials, which a lasting agent stores. */
async function register() {
  const reply = await fetch(`${url}/v1/agents/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ type: "client", agent_name: "agent.mjs", mode: "test" }),
  });
  if (!reply.ok) throw new Error(await reply.text());
  return reply.json();
}

/** Returns the result, or throws the refusal, which says why and which next step helps. */
async function call(client, name, input) {
  const answer = await client.callTool({ name, arguments: input });
  console.log(`${name} ${input.action}: ${answer.isError ? "refused" : "done"}`);
  if (answer.isError) throw new Error(JSON.stringify(answer.structuredContent, null, 2));
  return answer.structuredContent.result;
}

/** Takes the next step of a refusal. A real agent asks its person for the number and the code. */
async function claim(client, step) {
  await call(client, step.tool, { ...step.arguments, phone: "+14155550100" });
  await call(client, step.tool, { action: "verify", code: "424242" });
}

const agent = await register();
const authProvider = new ClientCredentialsProvider({
  clientId: agent.client_id,
  clientSecret: agent.client_secret,
  expectedIssuer: url,
});
const client = new Client({ name: "agent.mjs", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider }));

const { tools } = await client.listTools();
console.log("tools:", tools.map(({ name }) => name).join(", "));
const found = await call(client, "faq_search", { action: "search", query: "claim", limit: 1 });
const { structuredContent: refused } = await client.callTool({ name: "owners", arguments: profile });
console.log("before the claim:", refused.error_code);
await claim(client, refused.next);
const owner = await call(client, "owners", profile);
await client.close();

const told = { tools: tools.length, read: found.items[0].slug, refused: refused.error_code };
console.log(JSON.stringify({ ...told, written: owner.profile.display_name }));
