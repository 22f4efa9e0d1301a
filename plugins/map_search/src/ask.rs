//! The questions of the map, and the records that answer them.

use crate::{
    handoffs::handoffs, inputs::*, organisations, records::*, target::without_repeated, types::*,
};
use people_kit::UNTRUSTED;
use portolan_sdk::{feeds::Feed, prelude::*};
use record_search::TARGETS;

const MOST_QUESTIONS: u32 = 200;
const TARGET: &str = "{{target_id}}";
/// The prefix of a placeholder with a number of days; it ends with `}}`.
const DAYS_AGO: &str = "{{days_ago.";

pub(crate) fn questions(input: Questions) -> Result<QuestionList> {
    let of_role = input.role.map(|role| field("role").eq(role));
    let found = QUESTIONS.find(Query::new().filter(of_role).limit(MOST_QUESTIONS))?;
    Ok(QuestionList { items: found.documents().map(view).collect() })
}

fn view(question: &Stored<Question>) -> QuestionView {
    view!(question.value => QuestionView {
        role, question, why_it_matters;
        id: question.id.clone(),
        about_a_target: is_about_a_target(&question.value),
    })
}

fn is_about_a_target(question: &Question) -> bool {
    let conditions = question.uses.iter().filter_map(|entry| entry.condition.as_ref());
    conditions.map(portolan_sdk::to_json).any(|text| text.contains(TARGET))
}

pub(crate) fn ask(call: &Call, input: &AskQuestion) -> Result<Material> {
    let question = QUESTIONS.get(&input.question_id)?.ok_or(MapError::QuestionNotFound)?;
    let target_id = match &input.target_id {
        Some(id) => Some(TARGETS.get(id)?.ok_or(MapError::TargetNotFound)?.id),
        None if is_about_a_target(&question.value) => return Err(no_target(&input.question_id)),
        None => None,
    };
    let mut records = Vec::new();
    for used in &question.value.uses {
        let feed = FEEDS.iter().find(|feed: &&Feed<_>| feed.id() == used.feed);
        let Some((condition, feed)) = used.condition.as_ref().zip(feed) else { continue };
        let condition =
            fill_record(condition, target_id.as_deref().unwrap_or_default(), call.now());
        let query = Query::new().filter(Filter::from(condition)).limit(input.limit);
        let found = feed.find(query)?;
        records.push(view!(used => Records {
            feed, filter;
            more: found.next.is_some(),
            items: found.into_documents().map(without_repeated).collect(),
        }));
    }
    Ok(Material {
        targets: targets(&records)?,
        records,
        handoffs: handoffs(question.value.handoff_ids.iter().map(String::as_str))?,
        question: view(&question),
        steps: question.value.steps,
        answer_policy: question.value.answer_policy,
        output_schema: question.value.output_schema,
        trust: UNTRUSTED,
    })
}

fn no_target(question_id: &str) -> MapError {
    let question = "Which organisation is the question about? The action `search` finds the organisation's \
                    id.";
    let next = Next::action(CAPABILITY, "ask")
        .field("question_id", question_id)
        .ask("target_id", question);
    let expected = "the organisation's id";
    Refusal::validation("/target_id", "required", expected).next(next).into()
}

/// Returns the condition with its placeholders filled in.
fn fill_record(condition: &Record, target_id: &str, now: u64) -> Record {
    let fill = |(name, value): (&String, _)| (name.clone(), fill(value, target_id, now));
    condition.iter().map(fill).collect()
}

fn fill(value: &Value, target_id: &str, now: u64) -> Value {
    match value {
        Value::String(text) if text == TARGET => target_id.into(),
        Value::String(text) => match days(text) {
            Some(days) => time::rfc3339(now.saturating_sub(days * DAY)).into(),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| fill(item, target_id, now)).collect(),
        Value::Object(fields) => fill_record(fields, target_id, now).into(),
        other => other.clone(),
    }
}

fn days(text: &str) -> Option<u64> {
    text.strip_prefix(DAYS_AGO)?.strip_suffix("}}")?.parse().ok()
}

/// Returns the organisations that the records mention, each once.
fn targets(records: &[Records]) -> Result<Vec<TargetName>, HostError> {
    let ids = records.iter().flat_map(|record| &record.items).flat_map(target_ids);
    Ok(organisations::names(ids)?.into_values().collect())
}

fn target_ids(record: &Record) -> impl Iterator<Item = &str> {
    let one = record.get("target_id").and_then(Value::as_str);
    let many = record.get("_map").and_then(|map| map.get("target_ids")?.as_array());
    one.into_iter().chain(many.into_iter().flatten().filter_map(Value::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_filled_in() {
        let condition = json!({
            "target_id": { "eq": "{{target_id}}" },
            "at": { "gte": "{{days_ago.30}}" },
            "kind": { "in": ["funding", "{{else}}"] },
        });
        let now = 1_795_000_000_123;
        let filled = json!({
            "target_id": { "eq": "tgt_1" },
            "at": { "gte": "2026-10-19T11:06:40.123Z" },
            "kind": { "in": ["funding", "{{else}}"] },
        });
        assert_eq!(fill(&condition, "tgt_1", now), filled);
    }

    #[test]
    fn records_name_targets_in_two_ways() {
        let record = |value: Value| value.as_object().cloned().unwrap_or_default();
        let role = record(json!({ "target_id": "tgt_1" }));
        let event = record(json!({ "_map": { "target_ids": ["tgt_2", "tgt_3"] } }));
        assert_eq!(target_ids(&role).collect::<Vec<_>>(), ["tgt_1"]);
        assert_eq!(target_ids(&event).collect::<Vec<_>>(), ["tgt_2", "tgt_3"]);
    }
}
