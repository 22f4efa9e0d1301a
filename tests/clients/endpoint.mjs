// Lets programs that know nothing of tokens reach the MCP endpoint: registers an agent, requests
// its token, and starts a proxy that adds the token.

import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";

/** Registers an agent and returns its credentials. */
export async function register(url, type = "anonymous") {
  const reply = await fetch(`${url}/v1/agents/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ type, agent_name: "A client of MCP" }),
  });
  assert.equal(reply.status, 200, await reply.clone().text());
  return reply.json();
}

/** Requests a token for the endpoint, with these scopes or, without any, with all. */
export async function token(url, agent, scope) {
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: agent.client_id,
    client_secret: agent.client_secret,
    resource: `${url}/mcp`,
    ...(scope && { scope }),
  });
  const reply = await fetch(`${url}/oauth/token`, { method: "POST", body: form });
  assert.equal(reply.status, 200, await reply.clone().text());
  return (await reply.json()).access_token;
}

/** Starts a proxy that passes on every request with the token, and returns its address. */
export async function proxy(url, bearer) {
  const { hostname, port } = new URL(url);
  const server = http.createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${bearer}` };
    const { method, url: path } = request;
    const passed = http.request({ hostname, port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    request.pipe(passed);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
}
