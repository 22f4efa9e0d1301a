//! The release of held events, in the transaction that delivers them. A release passes through all events
//! that are held for a person, in their order and `HELD_AT_ONCE` in each transaction, and applies the rules
//! that are in force to each. New events for the person wait until it has passed.

use super::{holding::Holding, reads::HeldState};
use crate::{
    connection::{Statements, Transaction},
    effects::{HELD_AT_ONCE, Release},
    error::DbError,
    integers::{signed, unsigned},
};
use portolan_vocabulary::{EventParts, Timestamp, Timing, is_told_by_email};
use serde_json::json;

/// A held event that is delivered now.
#[derive(Debug)]
pub(super) struct Released {
    pub(super) event_id: String,
    pub(super) event_type: String,
    pub(super) occurred_at: Timestamp,
    pub(super) agents: Vec<String>,
    /// The owner who is also told by email, and when.
    pub(super) told: Option<(String, Timestamp)>,
}

/// A held event: its sequence, id, type, subject and data, the kind and id of its audience, its time, its due
/// time, and 1 if it is summarized.
type HeldRow = (i64, String, String, String, String, String, Option<String>, i64, i64, i64);

/// Does the next step of the release of a person's held events, and returns the events that are delivered now,
/// in their order.
pub(super) async fn release(
    transaction: &mut Transaction,
    statements: &Statements,
    holding: &mut Holding,
    release: &Release,
) -> Result<Vec<Released>, DbError> {
    let owner_id = &release.rules.owner_id;
    let summarized = release.summarized.iter().map(|seq| json!([owner_id, signed(*seq)]));
    transaction.run(&statements.held.drop, summarized.collect()).await?;
    let counted = release.counted.iter();
    let counted =
        counted.map(|(event_type, events)| json!([owner_id, event_type, signed(*events)]));
    transaction.run(&statements.held.take_counts, counted.collect()).await?;
    transaction.run(&statements.held.drop_counts, vec![json!([owner_id])]).await?;
    let key = vec![json!([owner_id, signed(release.at.as_millis())])];
    let states: Vec<HeldState> = transaction.find(&statements.held.states, key).await?;
    let from = states.first().and_then(|(_, released_to, due)| match due {
        0 => *released_to,
        _ => Some(released_to.unwrap_or(0)),
    });
    let Some(from) = from else {
        holding.reach(&release.rules, None);
        return Ok(Vec::new());
    };
    let key = vec![json!([owner_id, from])];
    let rows: Vec<HeldRow> = transaction.find(&statements.held.after, key).await?;
    let last = rows.last().filter(|_| rows.len() == HELD_AT_ONCE).map(|(seq, ..)| *seq);
    holding.reach(&release.rules, last);
    Ok(rows.into_iter().filter_map(|row| pass(holding, release, row)).collect())
}

/// Returns a held event that is delivered now. Another one is dropped or held on, as the rules say.
fn pass(holding: &mut Holding, release: &Release, row: HeldRow) -> Option<Released> {
    let (seq, event_id, event_type, subject, data, audience, audience_id, at, due_at, summarized) =
        row;
    let (rules, now) = (&release.rules, release.at);
    let event = EventParts { event_type: &event_type, subject: &subject, data: &data };
    let is_due = due_at <= signed(now.as_millis());
    let is_summarized = summarized != 0;
    // An event that was held until a time of the day is not held until the next one.
    let timing = match is_due {
        true => rules.rules.timing_of_held(event, now),
        false => rules.rules.timing(event, now),
    };
    if timing == Timing::Never {
        holding.end(&rules.owner_id, seq);
        return None;
    }
    let is_capped = rules.rules.caps_of(&event_type).next().is_some();
    if is_summarized && is_capped && (is_due || holding.caps.is_reached(rules, &event_type, now)) {
        return None;
    }
    let is_for = |agent: &&String| audience != "agent" || audience_id.as_ref() == Some(*agent);
    let agents: Vec<String> = release.agents.iter().filter(is_for).cloned().collect();
    let is_told = release.has_email
        && audience == "owner"
        && is_told_by_email(&event_type, &data, &rules.owner_id);
    let later = match timing {
        // Before an event that waits is due, nothing puts it off: else this could go on for ever.
        Timing::Later(until) if !is_due && !is_summarized => {
            Some((until.min(Timestamp::from_millis(unsigned(due_at))), false))
        }
        Timing::Later(until) => Some((until, false)),
        _ if agents.is_empty() && !is_told => None,
        _ => holding.caps.count(rules, &event_type, now).err().map(|until| (until, true)),
    };
    if let Some((until, summarized)) = later {
        if (signed(until.as_millis()), summarized) != (due_at, is_summarized) {
            holding.hold(rules, &event_id, until, summarized);
        }
        return None;
    }
    holding.end(&rules.owner_id, seq);
    let occurred_at = Timestamp::from_millis(unsigned(at));
    let told = is_told.then(|| (rules.owner_id.clone(), now));
    Some(Released { event_id, event_type, occurred_at, agents, told })
}
