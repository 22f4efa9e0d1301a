"""An MCP application with the official Python client, in both revisions of the protocol.

python3 mcp_client.py URL OUTBOX
"""

import asyncio
import json
import subprocess
import sys
import uuid
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata, OAuthToken

URL, OUTBOX = sys.argv[1:]
ENDPOINT = f"{URL}/mcp"
REDIRECT = "http://localhost:8127/callback"


class Memory:
    """Keeps tokens in memory."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Browser:
    """Signs in as an application with a browser does."""

    def __init__(self, phone):
        self.phone = phone
        self.memory = Memory()
        self.asked = []
        self.sent_to = None

    def auth(self):
        """Returns a new provider with the stored tokens, as after a start of the application."""
        metadata = OAuthClientMetadata(
            client_name="mcp_client.py",
            redirect_uris=[REDIRECT],
            grant_types=["authorization_code", "refresh_token"],
            token_endpoint_auth_method="none",
        )
        return OAuthClientProvider(ENDPOINT, metadata, self.memory, self.redirect, self.callback)

    async def redirect(self, address):
        self.asked.append(parse_qs(urlsplit(address).query))
        person = Path(__file__).with_name("person.mjs")
        command = ["node", str(person), OUTBOX, self.phone, address]
        shown = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
        self.sent_to = shown.stdout.strip()

    async def callback(self):
        query = parse_qs(urlsplit(self.sent_to).query)
        one = {name: values[0] for name, values in query.items()}
        return AuthorizationCodeResult(code=one["code"], state=one.get("state"), iss=one.get("iss"))


async def register():
    async with httpx2.AsyncClient() as http:
        reply = await http.post(f"{URL}/v1/agents/register", json={"type": "client"})
        return reply.json()


def messages(phone):
    lines = Path(OUTBOX).read_text().splitlines() if Path(OUTBOX).exists() else []
    sent = [json.loads(line) for line in lines]
    return [message["text"] for message in sent if message["to"] == phone]


async def code(phone):
    while not messages(phone):
        await asyncio.sleep(0.02)
    words = messages(phone)[-1].replace(".", " ").split()
    return next(word for word in words if len(word) == 6 and word.isdigit())


async def reads(client):
    tools = (await client.list_tools()).tools
    names = {tool.name for tool in tools}
    assert {"faq_search", "ledger_read", "svc_phone-binding_claim"} <= names, tools
    found = await client.call_tool("faq_search", {"action": "search", "query": "phone"})
    assert not found.is_error, found


async def writes(client):
    opened = await client.call_tool("ledger_write", {"action": "open", "account": str(uuid.uuid4())})
    assert not opened.is_error, opened


async def connected(auth, mode, use):
    async with httpx2.AsyncClient(auth=auth, timeout=60) as http:
        async with Client(streamable_http_client(ENDPOINT, http_client=http), mode=mode) as client:
            await use(client)


async def by_itself(mode, phone):
    agent = await register()
    auth = ClientCredentialsOAuthProvider(
        ENDPOINT, Memory(), agent["client_id"], agent["client_secret"], issuer=URL
    )

    async def use(client):
        await reads(client)
        refused = await client.call_tool("ledger_write", {"action": "open", "account": "x"})
        assert refused.is_error, refused
        assert refused.structured_content["error_code"] == "phone_binding_required", refused
        bound = await client.call_tool("svc_phone-binding_claim", {"action": "bind", "phone": phone})
        assert not bound.is_error, bound
        proof = {"action": "verify", "code": await code(phone)}
        assert not (await client.call_tool("svc_phone-binding_claim", proof)).is_error
        await writes(client)

    await connected(auth, mode, use)


async def signed_in(mode, phone):
    async def use(client):
        await reads(client)
        await writes(client)

    await connected(Browser(phone).auth(), mode, use)


async def narrowed(browser):
    """Narrows the token to the scope `svc.read`, as if the person had allowed nothing else."""
    form = {
        "grant_type": "refresh_token",
        "client_id": browser.memory.client.client_id,
        "refresh_token": browser.memory.tokens.refresh_token,
        "scope": "svc.read",
        "resource": ENDPOINT,
    }
    async with httpx2.AsyncClient() as http:
        reply = await http.post(f"{URL}/oauth/token", data=form)
    assert reply.status_code == 200, reply.text
    return OAuthToken.model_validate({**reply.json(), "refresh_token": None})


async def stepped_up(mode, phone):
    browser = Browser(phone)
    await connected(browser.auth(), mode, reads)
    browser.memory.tokens = await narrowed(browser)

    async def use(client):
        await reads(client)
        assert len(browser.asked) == 1, browser.asked
        # The write is refused for its scope; the client asks the person and
        # repeats it with success.
        await writes(client)
        assert len(browser.asked) == 2, browser.asked
        assert "svc.write" in browser.asked[1]["scope"][0].split(), browser.asked

    await connected(browser.auth(), mode, use)
    assert "svc.write" in browser.memory.tokens.scope.split()


async def main():
    for number, mode in enumerate(["auto", "legacy"]):
        await by_itself(mode, f"+1201555013{number}")
        await signed_in(mode, f"+1201555014{number}")
        await stepped_up(mode, f"+1201555015{number}")


asyncio.run(main())
