// Adds up an order with the TypeScript SDK of MCP, as `alpha` of tests/guests/template does: order.mjs PORT

import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as z from "zod/v4";

const U32 = 2 ** 32 - 1;
const name = z.string().min(1).max(60);
const line = z.object({
  article: name,
  quantity: z.int().min(1).max(1000),
  price: z.int().min(0).max(U32).describe("Cents."),
});
const tool = {
  description: "Add up",
  inputSchema: { customer: name.describe("The person who orders."), lines: z.array(line).max(100) },
  outputSchema: {
    customer: z.string(),
    articles: z.int(),
    total: z.int().describe("Cents."),
    dearest: z.string(),
  },
  annotations: { readOnlyHint: true, idempotentHint: true },
};

async function addUp({ customer, lines }) {
  if (lines.length === 0) throw new Error("the order is empty");
  const receipt = {
    customer,
    articles: lines.reduce((sum, line) => sum + line.quantity, 0),
    total: lines.reduce((sum, line) => sum + line.quantity * line.price, 0),
    dearest: lines.reduce((most, line) => (line.price >= most.price ? line : most)).article,
  };
  return {
    content: [{ type: "text", text: JSON.stringify(receipt) }],
    structuredContent: receipt,
  };
}

// Without sessions, the SDK wants a server and a transport for each request.
const listener = createServer(async (request, response) => {
  const server = new McpServer({ name: "order", version: "1.0.0" });
  server.registerTool("add_up", tool, addUp);
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  response.on("close", () => server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response);
});
listener.listen(Number(process.argv[2]), "127.0.0.1");
