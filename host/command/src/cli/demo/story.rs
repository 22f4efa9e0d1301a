//! What happens between two people who fit each other.

use crate::cli::demo::{agent::text, person::Person};
use jiff::{Timestamp, ToSpan as _};
use serde_json::{Value, json};

const MATCHING: &str = "matching_sessions";
const PAIRINGS: &str = "pairings";
const CONVERSATIONS: &str = "conversations";
const MEETINGS: &str = "thread_meetings";

/// Each pair comes to another point. Answers what came of it, in a sentence.
pub(super) async fn happens(number: usize, pair: &[Person; 2]) -> anyhow::Result<String> {
    let [one, other] = pair;
    let came = match number % 4 {
        0 => {
            let thread_id = match_each_other(one, other).await?;
            talk(one, other, &thread_id).await?;
            meet(one, other, &thread_id).await?;
            "found each other, talked, and have a date in both calendars"
        }
        1 => {
            let thread_id = agree(one, other).await?;
            talk(one, other, &thread_id).await?;
            "agreed after a question, and talk"
        }
        2 => {
            propose(one, other).await?;
            "have a proposal between them that nobody has answered yet"
        }
        _ => {
            let pairing_id = propose(one, other).await?;
            let reply = json!({ "pairing_id": pairing_id, "decision": "decline" });
            other.agent.call(PAIRINGS, "reply", reply).await?;
            "did not come together"
        }
    };
    Ok(format!("{} and {} {came}.", one.name, other.name))
}

/// Both look, both are interested: the service connects them.
async fn match_each_other(one: &Person, other: &Person) -> anyhow::Result<String> {
    let mut thread_id = String::new();
    for (person, wanted) in [(one, other), (other, one)] {
        let listing = json!({ "listing_id": person.listing_id });
        let session = person.agent.call(MATCHING, "create", listing).await?;
        let session_id = text(&session, "/session_id");
        let asked = json!({ "session_id": session_id, "limit": 100 });
        let found = person.agent.call(MATCHING, "candidates", asked).await?;
        let candidates = found.get("items").and_then(Value::as_array);
        let is_wanted = |candidate: &&Value| {
            text(candidate, "/listing_card/listing_id") == wanted.listing_id.as_str()
        };
        let candidate = candidates.into_iter().flatten().find(is_wanted);
        let candidate = candidate.cloned().unwrap_or_default();
        let decision = json!({
            "session_id": session_id, "candidate_id": text(&candidate, "/candidate_id"),
            "decision": "interested",
        });
        let decided = person.agent.call(MATCHING, "decide", decision).await?;
        thread_id = text(&decided, "/thread_id").to_owned();
    }
    Ok(thread_id)
}

async fn propose(one: &Person, other: &Person) -> anyhow::Result<String> {
    let proposal = json!({
        "from_listing_id": one.listing_id, "to_listing_id": other.listing_id,
        "message": "What you write is what we look for. Shall we talk?",
    });
    let pairing = one.agent.call(PAIRINGS, "propose", proposal).await?;
    Ok(text(&pairing, "/pairing_id").to_owned())
}

/// A proposal, a question, an answer, and a yes.
async fn agree(one: &Person, other: &Person) -> anyhow::Result<String> {
    let pairing_id = propose(one, other).await?;
    let ask = json!({
        "pairing_id": pairing_id, "decision": "ask", "message": "Would a start in February do?",
    });
    other.agent.call(PAIRINGS, "reply", ask).await?;
    let answer = json!({ "pairing_id": pairing_id, "message": "February is perfect." });
    one.agent.call(PAIRINGS, "message", answer).await?;
    let accept = json!({ "pairing_id": pairing_id, "decision": "accept" });
    let connected = other.agent.call(PAIRINGS, "reply", accept).await?;
    Ok(text(&connected, "/thread_id").to_owned())
}

async fn talk(one: &Person, other: &Person, thread_id: &str) -> anyhow::Result<()> {
    for (person, words) in [
        (one, "Good to meet you. What are you working on?"),
        (other, "Mostly on finding time. You?"),
        (one, "The same, with more coffee."),
    ] {
        let message = json!({ "thread_id": thread_id, "text": words });
        person.agent.call(CONVERSATIONS, "send", message).await?;
    }
    Ok(())
}

/// Half an hour, three days from now.
async fn meet(one: &Person, other: &Person, thread_id: &str) -> anyhow::Result<()> {
    let hour = |hours: i64| {
        let day = Timestamp::now().as_second() / 86_400 * 86_400;
        let start = Timestamp::from_second(day)? + (3 * 24 + hours).hours();
        anyhow::Ok(json!({ "start": start.to_string(), "end": (start + 30.minutes()).to_string() }))
    };
    let proposal = json!({
        "thread_id": thread_id, "title": "A first talk", "duration_min": 30,
        "slots": [hour(18)?, hour(20)?], "time_zone": "America/Los_Angeles",
    });
    let meeting = one.agent.call(MEETINGS, "propose", proposal).await?;
    let accept = json!({
        "meeting_id": text(&meeting, "/meeting_id"), "slot_id": text(&meeting, "/slots/0/slot_id"),
        "sequence": meeting.get("sequence"),
    });
    other.agent.call(MEETINGS, "accept", accept).await?;
    Ok(())
}
