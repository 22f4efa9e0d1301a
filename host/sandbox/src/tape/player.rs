//! Answers a run from a record.

use super::{
    policy::{Otherwise, Policy},
    record::{HostCall, LoggedLine},
};
use serde::Serialize;
use serde_json::{Value, value::RawValue};
use std::{borrow::Cow, collections::HashMap};

/// The maximum number of effects of a replay, and of their bytes as JSON, besides as many as the recorded ones. A run
/// that does more has diverged.
const MAX_PERFORMED: usize = 20_000;
const PERFORMED_BYTES: usize = 4 << 20;
/// The maximum number of bytes of the arguments of a divergence that are kept.
const DIVERGENCE_BYTES: usize = 64 << 10;

/// A question that the record does not answer.
#[derive(Debug, Clone, Serialize)]
pub struct Divergence {
    /// The interface and the function, such as `documents.get`.
    pub function: &'static str,
    /// In JSON; `null` if they are too long.
    pub arguments: Box<RawValue>,
}

/// The record that answers a run, and what the run does.
#[derive(Debug)]
pub struct Player {
    recorded: Vec<HostCall>,
    /// The positions of the recorded calls of each function and arguments, with how many were answered.
    positions: HashMap<(String, String), (Vec<usize>, usize)>,
    /// The collections and ids of the documents that this run writes otherwise than the recorded one.
    changed: Vec<(Value, Value)>,
    effects: Vec<(&'static str, Box<RawValue>)>,
    /// The maximum number of bytes of a call as JSON, and of all effects.
    limit: usize,
    /// The number of bytes that further effects may take.
    remaining: usize,
    divergence: Option<Divergence>,
    logs: Vec<LoggedLine>,
}

/// Returns the recorded answer of a call; `None` if the function itself is to answer, and a sentence if the run has
/// diverged. Arguments that are too long are `None`.
pub(crate) fn play(
    player: &mut Player,
    function: &'static str,
    policy: Policy,
    arguments: Option<&RawValue>,
) -> Result<Option<Box<RawValue>>, String> {
    let played = match arguments {
        Some(arguments) => player.play(function, policy, arguments.to_owned()),
        // No record has them, and the function itself must not run: it could have an effect.
        None => player.diverge(function, Box::default()),
    };
    match played {
        Played::Recorded(answer) => Ok(Some(answer)),
        Played::Run => Ok(None),
        Played::Diverged => Err(format!("the record has no answer to this call of {function}")),
    }
}

/// The answer of a replay.
enum Played {
    /// A recorded answer in JSON.
    Recorded(Box<RawValue>),
    /// The function itself answers.
    Run,
    Diverged,
}

impl Player {
    pub fn new(recorded: Vec<HostCall>) -> Self {
        let mut positions: HashMap<_, (Vec<usize>, usize)> = HashMap::new();
        for (position, import) in recorded.iter().enumerate() {
            let key = (import.function.to_string(), import.arguments.get().to_owned());
            positions.entry(key).or_default().0.push(position);
        }
        let limit = PERFORMED_BYTES + recorded.iter().map(HostCall::size).sum::<usize>();
        let (changed, effects, logs) = Default::default();
        let (remaining, divergence) = (limit, None);
        Self { recorded, positions, changed, effects, limit, remaining, divergence, logs }
    }

    /// Returns the maximum number of bytes of a call as JSON.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns whether the record has a call with these arguments.
    pub(crate) fn has_call(&self, function: &str, arguments: &RawValue) -> bool {
        let mut calls = self.recorded.iter().filter(|import| import.function == function);
        calls.any(|import| import.arguments.get() == arguments.get())
    }

    /// Returns what answers a call of a host function.
    fn play(&mut self, function: &'static str, policy: Policy, arguments: Box<RawValue>) -> Played {
        if policy.is_effect {
            let size = function.len() + arguments.get().len();
            let most = MAX_PERFORMED + self.recorded.len();
            match self.remaining.checked_sub(size) {
                Some(remaining) if self.effects.len() < most => self.remaining = remaining,
                _ => return self.diverge(function, arguments),
            }
            self.effects.push((function, arguments.clone()));
        }
        if self.reads_own_change(function, &arguments) {
            return self.diverge(function, arguments);
        }
        let key = (function.to_owned(), arguments.get().to_owned());
        if let Some((positions, answered)) = self.positions.get_mut(&key) {
            // A call that is made more often than it was recorded gets the last answer again.
            let position = positions.get(*answered).or(positions.last());
            *answered += 1;
            let import = position.and_then(|position| self.recorded.get(*position));
            if let Some(import) = import {
                return Played::Recorded(import.answer.clone());
            }
        }
        if policy.is_effect {
            self.note_change(function, &arguments);
        }
        match policy.otherwise {
            Otherwise::Run => Played::Run,
            Otherwise::Diverge => self.diverge(function, arguments),
            Otherwise::Nearest(fallback) => {
                let fallback = || RawValue::from_string(fallback?.to_owned()).ok();
                match self.nearest(function, &arguments).or_else(fallback) {
                    Some(answer) => Played::Recorded(answer),
                    None => self.diverge(function, arguments),
                }
            }
        }
    }

    fn diverge(&mut self, function: &'static str, arguments: Box<RawValue>) -> Played {
        let arguments = match arguments.get().len() > DIVERGENCE_BYTES {
            true => Box::default(),
            false => arguments,
        };
        self.divergence.get_or_insert(Divergence { function, arguments });
        Played::Diverged
    }

    /// Returns the answer to the recorded call of this function whose first arguments are equal to the most of these.
    fn nearest(&self, function: &str, arguments: &RawValue) -> Option<Box<RawValue>> {
        let parse = |text: &RawValue| serde_json::from_str::<Vec<Value>>(text.get()).ok();
        let wanted = parse(arguments).unwrap_or_default();
        let equal = |import: &&HostCall| {
            let recorded = parse(&import.arguments).unwrap_or_default();
            recorded.iter().zip(&wanted).take_while(|(one, other)| one == other).count()
        };
        let of_function = self.recorded.iter().filter(|import| import.function == function);
        Some(of_function.max_by_key(equal)?.answer.clone())
    }

    /// Remembers a document that this run writes and the recorded run has not written in the same way.
    fn note_change(&mut self, function: &str, arguments: &RawValue) {
        if matches!(function, "documents.put" | "documents.delete") {
            self.changed.extend(document_of(arguments));
        }
    }

    /// Returns whether a read is of a document that the record has not as this run has written it.
    fn reads_own_change(&self, function: &str, arguments: &RawValue) -> bool {
        function == "documents.get"
            && !self.changed.is_empty()
            && document_of(arguments).is_some_and(|document| self.changed.contains(&document))
    }

    pub(crate) fn log(&mut self, level: &'static str, message: String) {
        self.logs.push(LoggedLine { level, message });
    }

    /// Returns what the run has logged.
    pub fn logs(&self) -> &[LoggedLine] {
        &self.logs
    }

    /// Returns the first question that the record does not answer.
    pub fn divergence(&self) -> Option<&Divergence> {
        self.divergence.as_ref()
    }

    /// Returns the effects of the run, in order: the function and its arguments.
    pub fn effects(&self) -> Vec<(Cow<'static, str>, String)> {
        let effect = |(function, arguments): &(&'static str, Box<RawValue>)| {
            (Cow::Borrowed(*function), arguments.get().to_owned())
        };
        self.effects.iter().map(effect).collect()
    }

    /// Returns the recorded effects, in order.
    pub fn recorded_effects(&self) -> Vec<(Cow<'static, str>, String)> {
        let effects = self.recorded.iter().filter(|import| import.effect);
        effects.map(|import| (import.function.clone(), import.arguments.get().to_owned())).collect()
    }
}

fn document_of(arguments: &RawValue) -> Option<(Value, Value)> {
    let arguments: Vec<Value> = serde_json::from_str(arguments.get()).ok()?;
    let mut arguments = arguments.into_iter();
    Some((arguments.next()?, arguments.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn import(function: &'static str, arguments: &str, answer: &str) -> HostCall {
        HostCall {
            function: Cow::Borrowed(function),
            effect: function.ends_with("put"),
            arguments: raw(arguments),
            answer: raw(answer),
        }
    }

    fn answer(played: Played) -> String {
        match played {
            Played::Recorded(answer) => answer.get().to_owned(),
            Played::Run => "run".to_owned(),
            Played::Diverged => "diverged".to_owned(),
        }
    }

    #[test]
    fn the_same_question_gets_its_answers_in_order_and_the_last_one_again() {
        let mut player = Player::new(vec![
            import("documents.get", r#"["notes","a"]"#, "1"),
            import("documents.get", r#"["notes","a"]"#, "2"),
        ]);
        let mut ask =
            || answer(player.play("documents.get", Policy::READ, raw(r#"["notes","a"]"#)));
        assert_eq!([ask(), ask(), ask()], ["1", "2", "2"]);
    }

    #[test]
    fn a_read_that_the_record_does_not_have_is_a_divergence() {
        let mut player = Player::new(vec![import("documents.get", r#"["notes","a"]"#, "1")]);
        let other = player.play("documents.get", Policy::READ, raw(r#"["notes","b"]"#));
        assert_eq!(answer(other), "diverged");
        let divergence = player.divergence().unwrap();
        assert_eq!(divergence.function, "documents.get");
        assert_eq!(divergence.arguments.get(), r#"["notes","b"]"#);
    }

    #[test]
    fn a_run_that_does_more_than_is_kept_has_diverged() {
        let mut player = Player::new(vec![import("documents.put", r#"["notes","a","old"]"#, "1")]);
        let text = format!(r#"["notes","a","{}"]"#, "x".repeat(1 << 20));
        let mut put = || answer(player.play("documents.put", Policy::WRITE, raw(&text)));
        assert_eq!([put(), put(), put(), put()], ["1", "1", "1", "diverged"]);
        assert_eq!(player.effects().len(), 3);
        assert_eq!(player.divergence().unwrap().arguments.get(), "null");
    }

    #[test]
    fn a_call_with_arguments_that_are_too_long_is_not_run() {
        let mut player = Player::new(Vec::new());
        assert!(play(&mut player, "events.publish", Policy::CHECKED, None).is_err());
        assert_eq!(player.divergence().unwrap().function, "events.publish");
    }

    #[test]
    fn a_write_of_another_text_gets_the_answer_of_the_nearest_one_and_cannot_be_read_back() {
        let mut player = Player::new(vec![
            import("documents.put", r#"["notes","a","old","any"]"#, r#"{"Ok":{"Ok":7}}"#),
            import("documents.put", r#"["notes","b","old","any"]"#, r#"{"Ok":{"Ok":9}}"#),
            import("documents.get", r#"["notes","b"]"#, "1"),
        ]);
        let put = player.play("documents.put", Policy::WRITE, raw(r#"["notes","b","new","any"]"#));
        assert_eq!(answer(put), r#"{"Ok":{"Ok":9}}"#);
        let read = player.play("documents.get", Policy::READ, raw(r#"["notes","b"]"#));
        assert_eq!(answer(read), "diverged");
        assert_eq!((player.effects().len(), player.recorded_effects().len()), (1, 2));
    }
}
