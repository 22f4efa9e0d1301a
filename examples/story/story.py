"""Two people find each other, talk, meet, are introduced to a third one, and part, each through an agent, over REST
alone. References are written, and an agent asks before it does more.

Run it against a host (`cargo xtask serve`), with nothing but Python:

    python3 examples/story/story.py [http://127.0.0.1:8080]

All calls are in test mode, where each agent that claims +1 415 555 0100 gets a person of its own.
"""

import base64
import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timedelta, timezone

URL = (sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080").rstrip("/")


def request(method, path, token=None, body=None, form=None):
    """Sends a request and returns the status and the JSON of the answer."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    data = None
    if body is not None:
        headers["content-type"] = "application/json"
        data = json.dumps(body).encode()
    if form is not None:
        data = urllib.parse.urlencode(form).encode()
    call = urllib.request.Request(URL + path, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(call, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)
    except urllib.error.URLError as gone:
        sys.exit(f"no host answers at {URL} ({gone.reason}): start one with `cargo xtask serve`")


class Agent:
    """One agent, which acts for a person once that person has claimed it."""

    def __init__(self, name):
        self.name = name
        self.events = []
        self.heard = 0
        self.cursor = None
        _, agent = request("POST", "/v1/agents/register",
                           body={"type": "anonymous", "agent_name": name, "mode": "test"})
        _, grant = request("POST", "/oauth/token", form={
            "grant_type": "client_credentials", "client_id": agent["client_id"],
            "client_secret": agent["client_secret"], "scope": "svc.read svc.write svc.events"})
        self.token = grant["access_token"]

    def try_call(self, capability, action, **fields):
        path = f"/v1/capabilities/{capability}/call"
        return request("POST", path, self.token, {"action": action, **fields})

    def call(self, capability, action, **fields):
        """Returns the result. After `rate_limited`, waits as long as it says and calls again."""
        for _ in range(5):
            status, answer = self.try_call(capability, action, **fields)
            if status == 200:
                print(f"{self.name}: {capability} {action}")
                return answer["result"]
            wait = answer.get("next", {}).get("after_s")
            if answer["error_code"] != "rate_limited" or wait is None:
                break
            time.sleep(wait)
        sys.exit(f"{self.name}: {capability} {action} is refused: {json.dumps(answer, indent=2)}")

    def hears(self, wanted):
        """Returns the next event of this type after the one that was returned last. Reads and acknowledges events
        until there is one; others may come before and after it."""
        while wanted not in [event["type"] for event in self.events[self.heard:]]:
            path = "/v1/agent-events/stream?wait=20"
            path += f"&cursor={self.cursor}" if self.cursor else ""
            status, page = request("GET", path, self.token)
            if status != 200 or not page["events"]:
                sys.exit(f"{self.name} waits for {wanted} in vain: {json.dumps(page, indent=2)}")
            self.cursor = page["cursor"]
            for event in page["events"]:
                print(f"{self.name} hears {event['type']}: {event['data'].get('summary', '')}")
                self.events.append(event)
            ids = [event["id"] for event in page["events"]]
            request("POST", "/v1/agent-events/ack", self.token, {"ack_event_ids": ids})
        types = [event["type"] for event in self.events]
        self.heard = types.index(wanted, self.heard) + 1
        return self.events[self.heard - 1]


def hour(days, hours):
    """Returns the instant that many days and hours after today's midnight in UTC."""
    day = datetime.now(timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
    return (day + timedelta(days=days, hours=hours)).isoformat().replace("+00:00", "Z")


def slot(days, hours):
    return {"start": hour(days, hours), "end": hour(days, hours + 1)}


def claimed(name):
    """Registers an agent and claims it; until it is claimed, it can only read."""
    agent = Agent(name)
    status, refused = agent.try_call("owners", "update_profile", display_name=name)
    assert (status, refused["error_code"]) == (403, "phone_binding_required"), refused
    agent.call("svc.phone-binding", "bind", phone="+14155550100")
    agent.owner_id = agent.call("svc.phone-binding", "verify", code="424242")["owner_id"]
    agent.call("owners", "update_profile", display_name=name, city="San Francisco")
    return agent


ada, bo = claimed("Ada"), claimed("Bo")

job = ada.call(
    "agent_listings", "create", category="work.job.software", side="offer", publish=True,
    title="Rust engineer for a small team", description="We build tools for people who move.",
    attributes={"employment_type": "FULL_TIME", "seniority": "senior", "skills": ["Rust"]},
    criteria={"must": [{"field": "skills", "op": "eq", "value": "Rust"}]})
candidate = bo.call(
    "agent_listings", "create", category="work.candidate.software", side="demand", publish=True,
    title="Engineer who writes Rust", description="Ten years, of which five with Rust.",
    attributes={"employment_types": ["FULL_TIME"], "seniority": "senior",
                "skills": ["Rust", "PostgreSQL"]},
    criteria={"want": [{"field": "seniority", "op": "eq", "value": "senior"}]})

# A picture of 16 by 12 pixels. It is sent to an address of its own, without a token.
picture = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAMCAIAAADkharWAAAAF0lEQVR42mPUiKpg"
    "IAUwMZAIRjWMFA0AWe4BEiAaYwQAAAAASUVORK5CYII=")
begun = ada.call("media", "create", kind="picture", bytes=len(picture),
                 title="The colour of our office", listing_id=job["listing_id"])
sending = urllib.request.Request(begun["upload"]["url"], data=picture, method="PUT")
with urllib.request.urlopen(sending, timeout=60) as answer:
    assert answer.status == 201, answer.status
ada.hears("media.ready")
shown = bo.call("media", "about", listing_id=job["listing_id"])["items"][0]
with urllib.request.urlopen(shown["url"], timeout=60) as answer:
    assert answer.headers["content-type"] == "image/jpeg", answer.headers
print(f"Bo sees “{shown['title']}”, {shown['width']} pixels wide.")

session = ada.call("matching_sessions", "create", listing_id=job["listing_id"], batch_size=20)
found = ada.call("matching_sessions", "candidates", session_id=session["session_id"], limit=100)
match = next(it for it in found["items"]
             if it["listing_card"]["listing_id"] == candidate["listing_id"])
print(f"Ada finds “{match['listing_card']['title']}”, score {match['score']}, because of "
      + ", ".join(reason["field"] for reason in match["reasons"]))

pairing = ada.call(
    "pairings", "propose", from_listing_id=job["listing_id"],
    to_listing_id=candidate["listing_id"], message="Your five years of Rust caught my eye.")
asked = bo.hears("pairing.proposed")
bo.call("pairings", "reply", pairing_id=asked["data"]["resource"]["id"], decision="ask",
        message="Is it four or five days a week?")
ada.hears("pairing.replied")
ada.call("pairings", "message", pairing_id=pairing["pairing_id"], message="Four, if you like.")
bo.hears("pairing.message")
connected = bo.call("pairings", "reply", pairing_id=pairing["pairing_id"], decision="accept")
thread = connected["thread_id"]
ada.hears("pairing.connected")

ada.call("conversations", "send", thread_id=thread, text="Good to meet you. Shall we talk?")
bo.hears("conversation.message")
bo.call("conversations", "send", thread_id=thread, text="Gladly.", intent="answer")
ada.hears("conversation.message")

meeting = ada.call(
    "thread_meetings", "propose", thread_id=thread, title="A first talk", duration_min=60,
    slots=[slot(3, 17), slot(3, 19), slot(4, 17)], time_zone="America/Los_Angeles")
bo.hears("meeting.proposed")
countered = bo.call(
    "thread_meetings", "counter", meeting_id=meeting["meeting_id"],
    slots=[slot(5, 18)], note="I am on a train until then.")
ada.hears("meeting.countered")
agreed = ada.call(
    "thread_meetings", "accept_counter", meeting_id=meeting["meeting_id"],
    slot_id=countered["counter"]["slots"][0]["slot_id"])
for agent in (ada, bo):
    agent.hears("meeting.confirmed")
    busy = agent.call("calendar", "get_freebusy", start=hour(5, 17), end=hour(5, 20))
    assert any(it["fbtype"] == "BUSY" for it in busy["periods"]), busy
print(f"Both meet at {agreed['chosen_slot']['start']}.")

group = ada.call("availability_finder", "invite", owner_ids=[bo.owner_id], title="The contract",
                 may_book=True)
bo.hears("availability.invited")
bo.call("availability_finder", "accept", group_id=group["group_id"])
ada.hears("availability.answered")
found = ada.call("availability_finder", "find", group_id=group["group_id"], duration_min=60,
                 **{"from": hour(5, 18), "to": hour(6, 18)})
assert found["items"][0]["start"] >= agreed["chosen_slot"]["end"], found
booked = ada.call("availability_finder", "book", group_id=group["group_id"], duration_min=60,
                  start=found["items"][0]["start"])
bo.hears("availability.booked")
print(f"They sign it at {booked['start']}: the first hour that suits both.")

ada.call("pairings", "disclose", pairing_id=pairing["pairing_id"], fields=["email"],
         details={"email": "ada@work.example"})
bo.call("pairings", "disclose", pairing_id=pairing["pairing_id"], fields=["email"],
        details={"email": "bo@home.example"})
for agent in (ada, bo):
    agent.hears("pairing.contact_exchanged")
contact = bo.call("pairings", "get", pairing_id=pairing["pairing_id"])["contact"]
assert contact["email"] == "ada@work.example", contact

cleo = claimed("Cleo")
bo.call("social_relationships", "connect", owner_id=cleo.owner_id)
cleo.hears("relationship.requested")
cleo.call("social_relationships", "accept", owner_id=bo.owner_id, kind="connect")
bo.hears("relationship.accepted")
intro = ada.call(
    "intros", "request", introducer_id=bo.owner_id, target_id=cleo.owner_id,
    reason="She knows how small teams hire, and we are about to.")
bo.hears("intro.requested")
bo.call("intros", "respond", intro_id=intro["intro_id"], decision="accept",
        note="I work with Ada, and you would like her.")
cleo.hears("intro.requested")
introduced = cleo.call("intros", "respond", intro_id=intro["intro_id"], decision="accept")
ada.hears("intro.completed")
ada.call("conversations", "send", thread_id=introduced["thread_id"], text="Thank you for taking the time.")
cleo.hears("conversation.message")

applied = cleo.call(
    "applications", "apply", listing_id=job["listing_id"], message="Bo told me about your team.",
    profile={"headline": "Engineer who hires for small teams"})
application_id = applied["application_id"]
ada.hears("application.received")
ada.call("applications", "decide", application_id=application_id, decision="offer")
cleo.hears("application.decided")
cleo.call("applications", "answer", application_id=application_id, answer="accept")
ada.hears("application.answered")
for agent, text in ((ada, "Good questions, and answers the same day."), (cleo, "Did what was agreed.")):
    agent.hears("reference.invited")
    encounter = agent.call("references", "encounters", open_only=True)["items"][0]
    agent.call("references", "write", encounter_id=encounter["encounter_id"], text=text,
               claims=["clear_communication", "again"])
    # Neither sees what the other has written before both are shown.
    assert agent.call("references", "list", role="received")["items"] == []
print("Ada and Cleo wrote about each other. Both references are shown in an hour.")

ada.call("pairings", "close", pairing_id=pairing["pairing_id"], outcome="hired")
for agent in (ada, bo):
    agent.hears("pairing.closed")

# Bo's agent limits itself: from now on, Bo is asked before it contacts strangers. Only Bo undoes that.
bo.call("approvals", "tighten", ask_first_contact=True)
status, refused = bo.try_call("social_relationships", "follow", owner_id=cleo.owner_id)
assert (status, refused["error_code"]) == (403, "approval_required"), refused
bo.hears("approval.requested")
waiting = bo.call("approvals", "list", state=["waiting"])["items"]
assert [it["approval_id"] for it in waiting] == [refused["conflict"]["approval_id"]], waiting
print(f"Bo is asked on the account page: {waiting[0]['title']}.")
cancelled = bo.call("approvals", "cancel", approval_id=waiting[0]["approval_id"])
assert cancelled["state"] == "cancelled", cancelled
bo.hears("approval.decided")
print(json.dumps({agent.name: [event["type"] for event in agent.events] for agent in (ada, bo)}))
