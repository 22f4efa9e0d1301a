//! A component with a wrong descriptor, in one of several modes that tests write into the binary.

use portolan_sdk::{
    Declared, Head, NoInput, annotation,
    contract::{
        Caller, Descriptor, Failure, Guest, Success, context,
        description::{
            Access, Action, Annotation, Collection, Index, Invocation, Prompt, Publication,
            StateMachine, Subscription, Transition,
        },
    },
    declare, report_panics, unknown_action,
};
use std::{convert::Infallible, hint::black_box};

static MODE: &str = "mode:loops   ";

struct DescribesBadly;

impl Guest for DescribesBadly {
    #[expect(clippy::panic, reason = "it is one of the modes")]
    fn describe() -> Descriptor {
        report_panics();
        match black_box(MODE).trim_start_matches("mode:").trim_end() {
            "panics" => panic!("the dog ate the description"),
            "imports" => Head { id: context::new_id("id"), ..Head::default() }.build(vec![]),
            "hoards" => {
                let mut kept = Vec::new();
                loop {
                    kept.push(black_box(vec![1_u8; 1 << 20]));
                }
            }
            "lies" => lies(),
            "claims" => claims(),
            "forgets" => forgets(),
            _ => loop {
                black_box(());
            },
        }
    }

    fn call(_: Caller, action: String, _: String) -> Result<Success, Failure> {
        unknown_action(&action)
    }
}

/// Name, input schema and output schema of actions that cannot be served.
const SCHEMAS: [(&str, &str, &str); 7] = [
    ("no_schema", r#"{"type":"objekt"}"#, "{}"),
    ("text_schema", "hello", "{}"),
    ("open_schema", r#"{"type":"object"}"#, r#"{"type":7}"#),
    ("takes_action", r#"{"type":"object","properties":{"action":{}}}"#, "{}"),
    (
        "far_reference",
        r#"{"type":"object","properties":{"x":{"$ref":"https://example.com/x"}}}"#,
        "{}",
    ),
    ("lookaround", r#"{"type":"object","properties":{"x":{"pattern":"(?=a)b"}}}"#, "{}"),
    ("root_choice", r#"{"type":"object","anyOf":[{}]}"#, "{}"),
];

fn lies() -> Descriptor {
    let action = |name: &str| -> Action {
        declare::<NoInput, NoInput, Infallible>(name, "Title", "Text.", Access::Read, vec![])
    };
    let mut actions: Vec<Action> = SCHEMAS
        .iter()
        .map(|(name, input, output)| Action {
            input: (*input).into(),
            output: (*output).into(),
            ..action(name)
        })
        .collect();
    actions.push(Action { examples: vec![r#"{"x":1}"#.into()], ..action("bad_example") });
    actions.push(Action { errors: vec!["never_declared".into()], ..action("unknown_code") });
    actions.push(Action { callers: vec!["Nobody".into()], ..action("called_from_outside") });
    for (name, event_type) in [
        ("host_event", "catalog.changed"),
        ("undotted_event", "Happened"),
        ("unlisted_event", "thing.unlisted"),
    ] {
        actions.push(Action { emits: vec![event_type.into()], ..action(name) });
    }
    let head = Head {
        id: "describes_badly".into(),
        version: "one".into(),
        title: "Describes badly".into(),
        summary: " ".into(),
        description: "Text.".into(),
        default_action: Some("nothing".into()),
        collections: vec![Collection {
            name: "Things".into(),
            indexes: vec![Index { name: "a".into(), paths: vec!["a b".into()], unique: false }],
            text: vec![],
            geo: None,
            version: 1,
            people: Some(Vec::new()),
            annotations: vec![],
        }],
        invokes: vec![
            Invocation { capability: "describes_badly".into(), action: "bad_example".into() },
            Invocation { capability: "No id".into(), action: "get".into() },
        ],
        annotations: vec![
            annotation("no key", &1),
            annotation("example.org/twice", &1),
            annotation("example.org/twice", &2),
            annotation("example.org/large", &"x".repeat(20_000)),
            annotation("portolan/while_suspended", &true),
            annotation("portolan/no_dry_run", &true),
            annotation("portolan/left_out_of_exports", &true),
            Annotation { key: "example.org/text".into(), value: "{".into() },
        ],
        subscriptions: vec![Subscription {
            event_type: "thing.happened".into(),
            action: "nothing".into(),
        }],
        state_machines: vec![StateMachine {
            name: "thing".into(),
            states: vec!["new".into()],
            transitions: vec![
                Transition {
                    action: "nothing".into(),
                    from: vec![],
                    to: vec!["new".into()],
                    role: None,
                },
                Transition {
                    action: "takes_action".into(),
                    from: vec!["gone".into()],
                    to: vec![],
                    role: None,
                },
            ],
        }],
        roles: vec!["pages".into(), "king".into()],
        prompts: vec![Prompt {
            name: "Ask".into(),
            title: "Ask".into(),
            description: "Asks.".into(),
            arguments: vec![],
            text: "Ask {whom}.".into(),
            requires: vec![],
        }],
        ..Head::default()
    };
    head.build(
        actions
            .into_iter()
            .map(|action| {
                let publication = |event_type: &String| Publication {
                    event_type: event_type.clone(),
                    sensitive: false,
                };
                let declared = action.emits.iter().filter(|_| action.name != "unlisted_event");
                let publishes = declared.map(publication).collect();
                Declared { action, errors: vec![], publishes }
            })
            .collect(),
    )
}

/// Returns the descriptor of the next version of `notes`, in which an owner has one note at most.
fn claims() -> Descriptor {
    let action =
        declare::<NoInput, NoInput, Infallible>("get", "Get", "Text.", Access::Read, vec![]);
    let head = Head {
        id: "notes".into(),
        version: "2.0.0".into(),
        title: "Notes".into(),
        summary: "Keeps notes.".into(),
        description: "Text.".into(),
        collections: vec![Collection {
            name: "notes".into(),
            indexes: vec![Index {
                name: "owner".into(),
                paths: vec!["owner".into()],
                unique: true,
            }],
            text: vec![],
            geo: None,
            version: 1,
            people: Some(Vec::new()),
            annotations: vec![],
        }],
        ..Head::default()
    };
    head.build(vec![Declared { action, errors: vec![], publishes: vec![] }])
}

/// Returns a descriptor that does not declare the people of its collection.
fn forgets() -> Descriptor {
    let action =
        declare::<NoInput, NoInput, Infallible>("get", "Get", "Text.", Access::Read, vec![]);
    let head = Head {
        id: "forgetful".into(),
        version: "1.0.0".into(),
        title: "Forgetful".into(),
        summary: "Keeps visits.".into(),
        description: "Text.".into(),
        collections: vec![Collection {
            name: "visits".into(),
            indexes: vec![],
            text: vec![],
            geo: None,
            version: 1,
            people: None,
            annotations: vec![],
        }],
        ..Head::default()
    };
    head.build(vec![Declared { action, errors: vec![], publishes: vec![] }])
}

const _: fn() -> Descriptor = DescribesBadly::describe;

#[cfg(target_arch = "wasm32")]
portolan_sdk::contract::export!(DescribesBadly with_types_in portolan_sdk::contract);
