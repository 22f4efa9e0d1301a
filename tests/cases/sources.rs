//! Capabilities that are a source, which an engine runs.

use crate::cases::author_mistakes::run;
use crate::harness::{Host, Options};
use serde_json::json;
use std::{fs, path::Path};

const BOOKSHELF: &str = include_str!("../../examples/bookshelf-js/index.js");
const GREETER: &str = r#"import { capability, string } from "@portolan/sdk";

const greet = (name) => deep(name);
function deep(name) {
  if (name === "HAL") throw new Error("no robots");
  return `Hello, ${name}!`;
}

export default capability({
  id: "greeter_js", version: "1.0.0", title: "Greeter", description: "Greets people by name.", actions: {
    greet: { access: "read", title: "Greet a person", description: "Greets a person by name.",
      input: { name: string("The name.", { example: "Ada" }) }, output: { text: string("The greeting.") },
      run: (call, { name }) => ({ text: greet(name) }) },
  },
});
"#;

/// Makes the engine in the catalog of a host.
fn make_engine(host: &Host) {
    let engine = host.catalog().join(".engines/js.wasm");
    let (made, text) = run(host.folder.path(), &["engine", "js", "-o", engine.to_str().unwrap()]);
    assert!(made, "{text}");
}

fn drop_in(host: &Host, name: &str, text: &str) {
    host.drop_in(name, text.as_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_are_served_like_components() {
    let host = Host::with(&["agent_credits"]).await;
    drop_in(&host, "greeter_js.js", GREETER);
    let refusal = host.refusal("greeter_js.js").await;
    assert_eq!(refusal["reason"], "engine_missing");
    assert!(refusal["fix"].as_str().unwrap().contains("portolan engine js --output"), "{refusal}");
    make_engine(&host);
    // The engine's arrival is a change of each of its sources.
    host.loaded("greeter_js", "1.0.0").await;
    let agent = host.agent().await;
    let greeting = agent.result("greeter_js", json!({ "action": "greet", "name": "Ada" })).await;
    assert_eq!(greeting, json!({ "text": "Hello, Ada!" }));
    drop_in(&host, "greeter_js.js", &GREETER.replace("Hello", "Welcome").replace("1.0.0", "1.1.0"));
    host.loaded("greeter_js", "1.1.0").await;
    let greeting = agent.result("greeter_js", json!({ "action": "greet", "name": "Ada" })).await;
    assert_eq!(greeting, json!({ "text": "Welcome, Ada!" }));
    // A trap names the functions with their lines in the source.
    let trapped = agent.call("greeter_js", json!({ "action": "greet", "name": "HAL" })).await;
    assert_eq!(trapped.body["error_code"], "capability_trapped");
    let log = host.log();
    for part in ["no robots", "deep (greeter_js.js:5:", "greet (greeter_js.js:3:"] {
        assert!(log.contains(part), "{part}: {log}");
    }
    drop_in(&host, "bookshelf.js", BOOKSHELF);
    host.refusal("bookshelf.js").await;
    host.decide("bookshelf", "approve").await;
    host.loaded("bookshelf", "1.0.0").await;
    let person = host.claimed_agent().await;
    let book = json!({
        "action": "add", "title": "Solaris", "author": "Lem", "isbn": "9780156027601",
    });
    let book = person.result("bookshelf", book).await;
    let borrowed = json!({ "action": "borrow", "id": book["id"] });
    assert!(person.result("bookshelf", borrowed.clone()).await["due_at"].is_string());
    assert_eq!(person.call("bookshelf", borrowed).await.body["error_code"], "book_taken");
    let draw = json!({ "action": "random", "count": 100 });
    let numbers = person.result("bookshelf", draw.clone()).await;
    assert_ne!(numbers, person.result("bookshelf", draw).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_in_a_source_are_told_with_their_line() {
    let host = Host::start(Options::default()).await;
    make_engine(&host);
    let cases = [
        ("syntax.js", GREETER.replace("if (name", "if (if name"), "syntax.js:5:"),
        (
            "package.js",
            GREETER.replace("@portolan/sdk", "left-pad"),
            "package.js:1: a source imports only",
        ),
        (
            "granted.js",
            GREETER.replace("capability, string", "capability, string, sms"),
            "granted.js:1: a source has no sms",
        ),
        (
            "nothing.js",
            GREETER.replace("export default", "const unused ="),
            "no capability as its default export",
        ),
        ("thrown.js", GREETER.replace("const greet", "null.x;\nconst greet"), "thrown.js:3:"),
        (
            "field.js",
            GREETER.replace("access: \"read\"", "access: \"reed\""),
            "actions.greet.access is reed",
        ),
        ("hangs.js", format!("{GREETER}\nfor (;;) {{}}\n"), "out of time"),
        (
            "random.js",
            GREETER.replace("const greet", "Math.random();\nconst greet"),
            "use it in the run of an action",
        ),
    ];
    for (name, text, part) in cases {
        drop_in(&host, name, &text);
        let refusal = host.refusal(name).await;
        assert_eq!(refusal["reason"], "describe_failed", "{name}: {refusal}");
        let told = refusal["message"].as_str().unwrap();
        assert!(told.contains(part), "{name}: {told}");
        fs::remove_file(host.catalog().join(name)).unwrap();
    }
    host.drop_in("bytes.js", &[0xff, 0xfe]);
    assert_eq!(host.refusal("bytes.js").await["reason"], "not_text");
    let checked = host.catalog().join("greeter_js.js");
    fs::write(&checked, GREETER).unwrap();
    let (fits, text) = run(Path::new("/"), &["check", "--strict", checked.to_str().unwrap()]);
    assert!(fits, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_is_not_signed() {
    let host = Host::start(Options::default().configuration("trust = \"signed\"")).await;
    make_engine(&host);
    drop_in(&host, "greeter_js.js", GREETER);
    assert_eq!(host.refusal("greeter_js.js").await["reason"], "not_signed");
}
