"""An agent over MCP, with the official Python client: it signs in with credentials of its own, lists
the tools, reads, and writes once a person has claimed it.

Run it against a host (`cargo xtask serve`):

    python3 -m pip install mcp==2.3.0
    python3 examples/mcp/agent.py [http://127.0.0.1:8080]

The agent is in test mode, where the phone number +1 415 555 0100 and the code 424242 claim it.
"""

import asyncio
import json
import sys

import httpx2
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

URL = (sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080").rstrip("/")
ENDPOINT = f"{URL}/mcp"
PROFILE = {"action": "update_profile", "display_name": "Ada", "city": "San Francisco"}


class Memory:
    """Keeps the client's tokens in memory."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def register():
    """Registers an agent and returns its credentials, which a lasting agent stores."""
    async with httpx2.AsyncClient() as http:
        body = {"type": "client", "agent_name": "agent.py", "mode": "test"}
        reply = await http.post(f"{URL}/v1/agents/register", json=body)
        reply.raise_for_status()
        return reply.json()


async def call(client, tool, **arguments):
    """Returns the result, or exits with the refusal, which says why and which next step helps."""
    answer = await client.call_tool(tool, arguments)
    print(f"{tool} {arguments.get('action', '')}: {'refused' if answer.is_error else 'done'}")
    if answer.is_error:
        sys.exit(json.dumps(answer.structured_content, indent=2))
    return answer.structured_content["result"]


async def claim(client, step):
    """Takes the next step of a refusal. A real agent asks its person for number and code."""
    await call(client, step["tool"], **step["arguments"], phone="+14155550100")
    await call(client, step["tool"], action="verify", code="424242")


async def main():
    agent = await register()
    auth = ClientCredentialsOAuthProvider(
        ENDPOINT, Memory(), agent["client_id"], agent["client_secret"], issuer=URL
    )
    async with (
        httpx2.AsyncClient(auth=auth, timeout=60) as http,
        Client(streamable_http_client(ENDPOINT, http_client=http)) as client,
    ):
        tools = (await client.list_tools()).tools
        print("tools:", ", ".join(tool.name for tool in tools))
        found = await call(client, "faq_search", action="search", query="claim", limit=1)
        refused = (await client.call_tool("owners", PROFILE)).structured_content
        print("before the claim:", refused["error_code"])
        await claim(client, refused["next"])
        owner = await call(client, "owners", **PROFILE)
    told = {"tools": len(tools), "read": found["items"][0]["slug"], "refused": refused["error_code"]}
    print(json.dumps({**told, "written": owner["profile"]["display_name"]}))


asyncio.run(main())
