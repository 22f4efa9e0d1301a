//! Two people call all actions in any order, and their views always follow a small model: a person sees nothing of
//! the other one's before both references are settled or the time is over.

use super::*;
use proptest::prelude::*;

/// One step of a history.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Ada (true) or Bo writes.
    Write(bool),
    Withdraw(bool),
    /// Ada or Bo looks at everything.
    Look(bool),
    Reply(bool),
    Show(bool),
    Pass(u64),
}

/// Whether each of the two has written, when one of them last did, and whether it is shown.
#[derive(Debug, Clone, Copy, Default)]
struct Model {
    written: [Option<u64>; 2],
    shown: [bool; 2],
    is_closed: bool,
    hours: u64,
}

impl Model {
    fn pass(&mut self, hours: u64) {
        for _ in 0..hours {
            self.hours += 1;
            let settled = match self.written {
                [Some(one), Some(other)] => one.max(other) < self.hours,
                _ => false,
            };
            if !self.is_closed && (settled || self.hours >= 14 * 24) {
                self.is_closed = true;
                self.shown = self.written.map(|written| written.is_some());
            }
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        any::<bool>().prop_map(Step::Write),
        any::<bool>().prop_map(Step::Withdraw),
        any::<bool>().prop_map(Step::Look),
        any::<bool>().prop_map(Step::Reply),
        any::<bool>().prop_map(Step::Show),
        (0_u64..3).prop_map(Step::Pass),
        (100_u64..200).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 1..25)
}

/// Returns everything that a person can call, each answer as text, and what they were told.
fn views(play: &mut Play, me: &str, other: &str, encounter_id: &str) -> String {
    let mut seen = String::new();
    for (action, input) in [
        ("encounter", json!({ "encounter_id": encounter_id })),
        ("encounters", json!({})),
        ("encounters", json!({ "open_only": true })),
        ("list", json!({ "role": "received" })),
        ("list", json!({ "role": "sent" })),
        ("about", json!({ "owner_id": other })),
        ("about", json!({ "owner_id": me })),
        ("shown_to", json!({})),
    ] {
        seen += &format!("{action} {:?}\n", play.act(me, action, input));
    }
    seen + &play.told(me).join(" ")
}

/// Returns the history as it would be if the other person had done nothing in secret.
fn alone(steps: &[Step], is_ada: bool) -> String {
    let (mut play, id) = Play::met();
    for step in steps {
        match *step {
            Step::Write(by) if by == is_ada => {
                drop(play.act(name(by), "write", write(&id, text(by))))
            }
            Step::Withdraw(by) if by == is_ada => {
                drop(play.act(name(by), "withdraw", json!({ "encounter_id": id })));
            }
            Step::Show(by) if by == is_ada => {
                drop(play.act(name(by), "show", json!({ "owner_id": CY })));
            }
            Step::Pass(hours) => play.pass(hours),
            _ => {}
        }
    }
    views(&mut play, name(is_ada), name(!is_ada), &id)
}

fn name(is_ada: bool) -> &'static str {
    if is_ada { ADA } else { BO }
}

fn text(is_ada: bool) -> &'static str {
    if is_ada { "What Ada says of Bo." } else { "What Bo says of Ada." }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn nobody_sees_what_is_not_shown(steps in steps()) {
        let (mut play, id) = Play::met();
        let mut model = Model::default();
        for (index, step) in steps.iter().enumerate() {
            match *step {
                Step::Write(by) => {
                    let written = play.act(name(by), "write", write(&id, text(by)));
                    prop_assert_eq!(written.is_ok(), !model.is_closed);
                    if !model.is_closed {
                        model.written[usize::from(by)] = Some(model.hours);
                        prop_assert!(!written.unwrap().to_string().contains(text(!by)));
                    }
                }
                Step::Withdraw(by) => {
                    let withdrawn = play.act(name(by), "withdraw", json!({ "encounter_id": id }));
                    let is_there = model.written[usize::from(by)].is_some() && !model.is_closed;
                    prop_assert_eq!(withdrawn.is_ok(), is_there);
                    if is_there {
                        model.written[usize::from(by)] = None;
                    }
                }
                Step::Look(by) => {
                    let seen = views(&mut play, name(by), name(!by), &id);
                    prop_assert_eq!(seen.contains(text(!by)), model.shown[usize::from(!by)]);
                    if !model.is_closed {
                        // It is the same as if the other person had done nothing at all.
                        let alone = alone(&steps[..index], by);
                        prop_assert_eq!(seen, alone);
                    }
                }
                Step::Reply(by) => {
                    let reference = play.world.documents(REFERENCES).into_iter();
                    let about = reference.filter(|found| found.value.about_id == name(by));
                    for reference in about {
                        let reply = json!({ "reference_id": reference.id, "reply": "It was so." });
                        let replied = play.act(name(by), "reply", reply);
                        prop_assert_eq!(replied.is_ok(), reference.value.reply.is_none());
                    }
                }
                Step::Show(by) => {
                    play.act(name(by), "show", json!({ "owner_id": CY })).unwrap();
                    let about = json!({ "owner_id": name(by) });
                    let seen = play.act(CY, "about", about).unwrap().to_string();
                    prop_assert_eq!(seen.contains(text(!by)), model.shown[usize::from(!by)]);
                }
                Step::Pass(hours) => {
                    play.pass(hours);
                    model.pass(hours);
                }
            }
        }
    }
}
