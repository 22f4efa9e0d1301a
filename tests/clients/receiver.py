"""A receiver of webhooks, which verifies with the library of Standard Webhooks for Python.

python3 receiver.py

receiver.mjs describes what it reads, answers and prints.
"""

import base64
import json
import os
import secrets
import select
import threading
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook

OLD = timedelta(minutes=6)
MISMATCH = "No matching signature found"
TOO_OLD = "Message timestamp too old"
PRINTING = threading.Lock()


def say(line):
    with PRINTING:
        print(json.dumps(line), flush=True)


def parsed(body):
    try:
        return json.loads(body)
    except ValueError:
        return None


def refusal(webhook, body, headers):
    """Returns why the library does not verify the request; None when it does."""
    try:
        webhook.verify(body, headers)
        return None
    # For malformed input, the library raises errors that are not its own.
    except Exception as error:
        return str(error)


def tampering_refused(webhook, body, headers):
    then = datetime.now(timezone.utc) - OLD
    # The old request is signed, so that only its age is wrong.
    old = headers | {
        "webhook-timestamp": str(int(then.timestamp())),
        "webhook-signature": webhook.sign(headers["webhook-id"], then, body.decode()),
    }
    other = Webhook(f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}")
    return {
        # The changed body is still valid JSON.
        "body": refusal(webhook, body + b" ", headers) == MISMATCH,
        "timestamp": refusal(webhook, body, old) == TOO_OLD,
        "secret": refusal(other, body, headers) == MISMATCH,
    }


class Receiver(BaseHTTPRequestHandler):
    webhook = None

    def do_POST(self):
        length = int(self.headers["content-length"])
        body = self.rfile.read(length)
        if len(body) < length:
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        webhook, event = Receiver.webhook, parsed(body)
        kind = event.get("type") if isinstance(event, dict) else None
        refused = refusal(webhook, body, headers) if webhook else None
        verified = refused is None if webhook else None
        line = {
            "type": kind,
            "id": headers.get("webhook-id"),
            "verified": verified,
            "refused": refused,
            "body": event,
            "tampering_refused": tampering_refused(webhook, body, headers) if verified else None,
        }
        try:
            if kind == "webhook.challenge":
                self.answer(200, {"challenge": event["data"]["challenge"]})
            else:
                self.answer(204 if verified else 401)
        finally:
            say(line)

    def answer(self, status, body=None):
        self.send_response(status)
        if body is not None:
            content = json.dumps(body).encode()
            self.send_header("content-type", "application/json")
        else:
            content = b""
        if status != 204:
            self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


# Many requests may arrive at once.
ThreadingHTTPServer.request_queue_size = 128
server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.timeout = 0
# Without a buffer, `select` sees every line that waits to be read.
commands = open(0, "rb", buffering=0)
say({"listening": server.server_port})
while True:
    ready, _, _ = select.select([commands, server], [], [])
    # Secrets are read first, because a waiting request may have been sent after one.
    if commands in ready:
        line = commands.readline()
        if not line:
            os._exit(0)
        Receiver.webhook = Webhook(json.loads(line)["secret"])
    else:
        server.handle_request()
