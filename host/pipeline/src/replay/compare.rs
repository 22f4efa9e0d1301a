//! The differences of a replayed run from the recorded one.

use portolan_sandbox::{Ending, Player, RecordedRun};
use serde::Serialize;
use serde_json::Value;

/// How a replayed run compares with the recorded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayVerdict {
    /// The same bytes: answer, writes and events.
    Same,
    /// The recorded run had no answer, and this one has.
    Fixed,
    AnswerDiffers,
    /// Another refusal, or a refusal in place of an answer, or the other way round.
    RefusalDiffers,
    /// The answer is the same, and what is written, published, set or called is not.
    EffectsDiffer,
    /// The run trapped or exceeded a limit, and the recorded one did not.
    Trapped,
    /// The run asked what the record has no answer to.
    Diverged,
    /// The recorded version does not repeat the run either, so nothing can be said of another one.
    Unrepeatable,
}

impl ReplayVerdict {
    pub const ALL: [Self; 8] = [
        Self::Same,
        Self::Fixed,
        Self::AnswerDiffers,
        Self::RefusalDiffers,
        Self::EffectsDiffer,
        Self::Trapped,
        Self::Diverged,
        Self::Unrepeatable,
    ];

    /// Returns the name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Fixed => "fixed",
            Self::AnswerDiffers => "answer_differs",
            Self::RefusalDiffers => "refusal_differs",
            Self::EffectsDiffer => "effects_differ",
            Self::Trapped => "trapped",
            Self::Diverged => "diverged",
            Self::Unrepeatable => "unrepeatable",
        }
    }

    /// Returns whether somebody should look before the version serves.
    pub fn is_change(self) -> bool {
        !matches!(self, Self::Same | Self::Fixed | Self::Unrepeatable)
    }
}

/// An effect of a run: the host function, and its arguments as JSON or a digest of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    pub function: String,
    pub arguments: Value,
}

/// The effects of two runs: the recorded ones, and those of the replay.
pub(super) fn effects(player: &Player) -> (Vec<Effect>, Vec<Effect>) {
    let effects = |effects: Vec<(std::borrow::Cow<'static, str>, String)>| {
        let effect = |(function, arguments): (std::borrow::Cow<'static, str>, String)| Effect {
            function: function.into_owned(),
            arguments: serde_json::from_str(&arguments).unwrap_or_default(),
        };
        effects.into_iter().map(effect).collect()
    };
    (effects(player.recorded_effects()), effects(player.effects()))
}

/// Compares a replayed run with the recorded one.
pub(super) fn verdict(
    recorded: &RecordedRun,
    (ending, code): (&Ending, Option<&str>),
    player: &Player,
) -> ReplayVerdict {
    if player.divergence().is_some() {
        return ReplayVerdict::Diverged;
    }
    match (&recorded.ending, ending) {
        (Ending::Failed { reason: before, .. }, Ending::Failed { reason, .. }) => {
            match before == reason {
                true => ReplayVerdict::Same,
                false => ReplayVerdict::Trapped,
            }
        }
        (_, Ending::Failed { .. }) => ReplayVerdict::Trapped,
        (Ending::Failed { .. }, _) => ReplayVerdict::Fixed,
        _ if recorded.code.as_deref() != code => ReplayVerdict::RefusalDiffers,
        (before, after) if before != after => ReplayVerdict::AnswerDiffers,
        (_, after) if after.keeps_writes() && player.recorded_effects() != player.effects() => {
            ReplayVerdict::EffectsDiffer
        }
        _ => ReplayVerdict::Same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_sandbox::RecordedCaller;

    fn recorded(ending: Ending, code: Option<&str>) -> RecordedRun {
        RecordedRun {
            capability: "notes".to_owned(),
            version: "1.0.0".to_owned(),
            digest: String::new(),
            action: "get".to_owned(),
            caller: RecordedCaller::System { test_mode: false },
            via: Vec::new(),
            request_id: "req_1".to_owned(),
            at: 0,
            seed: String::new(),
            input: "{}".to_owned(),
            read_only: true,
            imports: Vec::new(),
            ending,
            code: code.map(str::to_owned),
        }
    }

    #[test]
    fn each_kind_of_difference_has_its_verdict() {
        use ReplayVerdict::{AnswerDiffers, Fixed, RefusalDiffers, Same, Trapped};
        let success = |output: &str| Ending::Success { output: output.to_owned(), next: None };
        let refused = || Ending::Refused {
            code: "not_found".to_owned(),
            message: String::new(),
            conflict: None,
            next: None,
            keep_writes: false,
        };
        let failed =
            |reason: &str| Ending::Failed { reason: reason.to_owned(), text: "frames".to_owned() };
        for (before, before_code, after, after_code, expected) in [
            (success("1"), None, success("1"), None, Same),
            (success("1"), None, success("2"), None, AnswerDiffers),
            (success("1"), None, refused(), Some("not_found"), RefusalDiffers),
            (success("1"), None, success("1"), Some("capability_answer_invalid"), RefusalDiffers),
            (success("1"), None, failed("trapped"), Some("capability_trapped"), Trapped),
            (failed("trapped"), Some("capability_trapped"), success("1"), None, Fixed),
            (failed("trapped"), Some("x"), failed("trapped"), Some("x"), Same),
            (failed("trapped"), Some("x"), failed("out_of_time"), Some("y"), Trapped),
        ] {
            let player = Player::new(Vec::new());
            let found = verdict(&recorded(before, before_code), (&after, after_code), &player);
            assert_eq!(found, expected);
        }
    }
}
