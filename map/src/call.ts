// Where a person goes on with a contract, or what their agent is asked to do: words for it, and the call itself.

import type { Handoff } from "./records.ts";

const IDENTIFIER = /^[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}$/;
const CONTINUATION = /^(https?:\/\/[A-Za-z0-9.:[\]-]+(?:\/[A-Za-z0-9._~-]+)*)\/handoff\/\{token\}$/;
const LOCAL = ["localhost", "127.0.0.1", "[::1]"];

export interface Call {
  /** The page on which the person signs in and does it without an agent. */
  page: string;
  /** For an agent that knows MCP or the API, in a person's words. */
  words: string;
  /** For a program. */
  json: string;
  /** For a command line. */
  curl: string;
  /** How a program comes to a token. */
  guide: string;
}

/** Of identifiers and the host's own address alone: nothing that others wrote reaches an agent or a
 * shell. None where one of these is not what it should be. */
export function call(handoff: Handoff, record: string): Call | undefined {
  const base = capabilityApi(handoff);
  if (!base || !IDENTIFIER.test(handoff.id) || !IDENTIFIER.test(record)) return undefined;
  const body = JSON.stringify({ action: "resolve", handoff_id: handoff.id, record_id: record });
  const words = [
    `At Portolan (${base}, for MCP ${base}/mcp), call the action resolve of the capability`,
    `handoff_resolve with the handoff ${handoff.id} and the record ${record}.`,
    "It answers a link. Give me the link, and tell me what the draft behind it says.",
    "Publish and send nothing before I have said so.",
    ...(handoff.requires.claimed
      ? ["If you have not been claimed with my phone yet, use svc.phone-binding with me first."]
      : []),
  ].join(" ");
  const curl = [
    `curl -X POST '${base}/v1/capabilities/handoff_resolve/call' \\`,
    `  -H "Authorization: Bearer $ACCESS_TOKEN" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${body}'`,
  ].join("\n");
  const page = `${base}/map/handoffs/${handoff.id}/${record}`;
  return { page, words, json: body, curl, guide: `${base}/auth.md` };
}

function capabilityApi({ continuation }: Handoff): string | undefined {
  const base = CONTINUATION.exec(continuation.url_template)?.[1];
  if (base === undefined || !URL.canParse(base)) return undefined;
  const { protocol, hostname } = new URL(base);
  return protocol === "https:" || LOCAL.includes(hostname) ? base : undefined;
}
