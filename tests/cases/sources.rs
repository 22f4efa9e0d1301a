//! Capabilities that are a source, which an engine runs.

use crate::cases::author_mistakes::run_author_command;
use crate::cases::chance::check_draws;
use crate::harness::{Host, Options, Process};
use serde_json::json;
use std::{fs, path::Path};

/// A language of sources, and its examples.
struct Language {
    ending: &'static str,
    bookshelf: &'static str,
    greeter: &'static str,
    /// The message of a trap three functions deep, and the line of each function.
    frames: [&'static str; 4],
}

const JAVASCRIPT: Language = Language {
    ending: "js",
    bookshelf: include_str!("../../examples/bookshelf-js/index.js"),
    greeter: GREETER_JS,
    frames: ["no robots", "deep (greeter.js:5:", "greet (greeter.js:3:", " (greeter.js:13:"],
};

const PYTHON: Language = Language {
    ending: "py",
    bookshelf: include_str!("../../examples/bookshelf-python/app.py"),
    greeter: GREETER_PY,
    frames: [
        "no robots",
        "greeter.py:9 in deep",
        "greeter.py:21 in hail",
        "greeter.py:18 in greet",
    ],
};

const GREETER_JS: &str = r#"import { capability, string } from "@portolan/sdk";

const greet = (name) => deep(name);
function deep(name) {
  if (name === "HAL") throw new Error("no robots");
  return `Hello, ${name}!`;
}

export default capability({
  id: "greeter", version: "1.0.0", title: "Greeter", description: "Greets people by name.", actions: {
    greet: { access: "read", title: "Greet a person", description: "Greets a person by name.",
      input: { name: string("The name.", { example: "Ada" }) }, output: { text: string("The greeting.") },
      run: (call, { name }) => ({ text: greet(name) }) },
  },
});
"#;

const GREETER_PY: &str = r#""""Greets people by name."""
from typing import Annotated, TypedDict
from portolan_sdk import App, Example

app = App(id="greeter", version="1.0.0", title="Greeter", description=__doc__)

def deep(name):
    if name == "HAL":
        raise ValueError("no robots")
    return f"Hello, {name}!"

@app.action(access="read")
def greet(call, name: Annotated[str, "The name.", Example("Ada")]) -> TypedDict("Greeting", {"text": Annotated[str, "The greeting."]}):
    """Greet a person.

    Greets a person by name.
    """
    return {"text": hail(name)}

def hail(name):
    return deep(name)
"#;

impl Language {
    fn file(&self, stem: &str) -> String {
        format!("{stem}.{}", self.ending)
    }

    /// Makes the engine in the catalog of a host.
    fn make_engine(&self, host: &Host) {
        let engine = host.catalog().join(format!(".engines/{}.wasm", self.ending));
        let arguments = ["engine", self.ending, "-o", engine.to_str().unwrap()];
        let (made, text) = run_author_command(host.folder.path(), &arguments);
        assert!(made, "{text}");
    }

    async fn check_served(&self) {
        let host = Host::with(&["agent_credits"]).await;
        let file = self.file("greeter");
        host.drop_in(&file, self.greeter.as_bytes());
        let refusal = host.wait_for_refusal(&file).await;
        assert_eq!(refusal["reason"], "engine_missing");
        let fix = format!("portolan engine {} --output", self.ending);
        assert!(refusal["fix"].as_str().unwrap().contains(&fix), "{refusal}");
        self.make_engine(&host);
        // The engine's arrival is a change of each of its sources.
        host.wait_for_version("greeter", "1.0.0").await;
        let agent = host.agent().await;
        let greet = json!({ "action": "greet", "name": "Ada" });
        assert_eq!(agent.result("greeter", greet.clone()).await, json!({ "text": "Hello, Ada!" }));
        let changed = self.greeter.replace("Hello", "Welcome").replace("1.0.0", "1.1.0");
        host.drop_in(&file, changed.as_bytes());
        host.wait_for_version("greeter", "1.1.0").await;
        assert_eq!(agent.result("greeter", greet).await, json!({ "text": "Welcome, Ada!" }));
        // A trap names the functions with their lines in the source.
        let trapped = agent.call("greeter", json!({ "action": "greet", "name": "HAL" })).await;
        assert_eq!(trapped.body["error_code"], "capability_trapped");
        let log = host.log();
        for part in self.frames {
            assert!(log.contains(part), "{part}: {log}");
        }
        host.drop_in(&self.file("bookshelf"), self.bookshelf.as_bytes());
        host.wait_for_refusal(&self.file("bookshelf")).await;
        host.decide("bookshelf", "approve").await;
        host.wait_for_version("bookshelf", "1.0.0").await;
        let person = host.claimed_agent().await;
        let book = json!({
            "action": "add", "title": "Solaris", "author": "Lem", "isbn": "9780156027601",
        });
        let book = person.result("bookshelf", book).await;
        let borrowed = json!({ "action": "borrow", "id": book["id"] });
        assert!(person.result("bookshelf", borrowed.clone()).await["due_at"].is_string());
        assert_eq!(person.call("bookshelf", borrowed).await.body["error_code"], "book_taken");
        check_draws(&person, 200, 5).await;
    }

    /// Drops sources that each have a mistake, and compares a part of what the host says of them. Each is a file's
    /// stem, a text of the greeter, what replaces it, and the part.
    async fn check_mistakes(&self, host: &Host, cases: &[(&str, &str, &str, &str)]) {
        self.make_engine(host);
        for (stem, before, after, part) in cases {
            assert!(self.greeter.contains(before), "{stem}");
            let name = self.file(stem);
            host.drop_in(&name, self.greeter.replacen(before, after, 1).as_bytes());
            let refusal = host.wait_for_refusal(&name).await;
            assert_eq!(refusal["reason"], "describe_failed", "{name}: {refusal}");
            let message = refusal["message"].as_str().unwrap();
            assert!(message.contains(part), "{name}: {message}");
            assert!(!message.contains("wasm"), "{name}: {message}");
            if !message.contains("out of time") {
                assert_eq!(refusal["fix"], "correct what the message names", "{name}");
            }
            fs::remove_file(host.catalog().join(name)).unwrap();
        }
        let name = self.file("greeter");
        let checked = host.catalog().join(name);
        fs::write(&checked, self.greeter).unwrap();
        let (fits, text) =
            run_author_command(Path::new("/"), &["check", "--strict", checked.to_str().unwrap()]);
        assert!(fits, "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_in_javascript_are_served_like_components() {
    JAVASCRIPT.check_served().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_in_python_are_served_like_components() {
    PYTHON.check_served().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_in_a_source_in_javascript_are_reported_with_their_line() {
    let host = Host::start(Options::default()).await;
    let cases = [
        ("syntax", "if (name", "if (if name", "syntax.js:5:"),
        ("package", "@portolan/sdk", "left-pad", "package.js:1: a source imports only"),
        (
            "granted",
            "capability, string",
            "capability, string, sms",
            "granted.js:1: a source has no sms",
        ),
        ("nothing", "export default", "const unused =", "no capability as its default export"),
        ("thrown", "const greet", "null.x;\nconst greet", "thrown.js:3:"),
        ("field", "access: \"read\"", "access: \"reed\"", "actions.greet.access is reed"),
        ("hangs", "export default", "for (;;) {}\nexport default", "out of time"),
        ("random", "const greet", "Math.random();\nconst greet", "use it in the run of an action"),
    ];
    JAVASCRIPT.check_mistakes(&host, &cases).await;
    host.drop_in("bytes.js", &[0xff, 0xfe]);
    assert_eq!(host.wait_for_refusal("bytes.js").await["reason"], "not_text");
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_in_a_source_in_python_are_reported_with_their_line() {
    let host = Host::start(Options::default()).await;
    let cases = [
        ("syntax", "def deep(name)", "def deep(name", "syntax.py:7: '(' was never closed"),
        (
            "package",
            "from typing",
            "import left_pad\nfrom typing",
            "package.py:2: A source cannot import left_pad",
        ),
        (
            "granted",
            "import App",
            "import lookups, App",
            "granted.py:3: A source cannot import lookups of portolan_sdk",
        ),
        ("nothing", "app = App", "lib = str", "nothing.py:5: TypeError"),
        ("empty", "@app.action(access=\"read\")", "app = None", "empty.py:1: There is no app"),
        ("thrown", "def deep", "None.x\ndef deep", "thrown.py:7: AttributeError"),
        ("exit", "def deep", "raise SystemExit\ndef deep", "exit.py:7: SystemExit"),
        ("field", "\"read\"", "\"reed\"", "field.py:13: There is no access reed"),
        ("described", "\"The name.\", ", "", "described.py:13: name of greet has no description"),
        ("hangs", "def deep", "while True: pass\ndef deep", "out of time"),
    ];
    PYTHON.check_mistakes(&host, &cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_is_not_signed() {
    let host = Host::start(Options::default().configuration("trust = \"signed\"")).await;
    JAVASCRIPT.make_engine(&host);
    host.drop_in("greeter.js", GREETER_JS.as_bytes());
    assert_eq!(host.wait_for_refusal("greeter.js").await["reason"], "not_signed");
}

/// Files with one stem are of several publishers, so none takes the id, the data and the grants of another.
#[tokio::test(flavor = "multi_thread")]
async fn a_source_does_not_take_the_place_of_a_component_with_its_stem() {
    let host = Process::start(Options::with(&["greeter"]));
    JAVASCRIPT.make_engine(&host);
    host.drop_in("greeter.js", GREETER_JS.as_bytes());
    assert_eq!(host.wait_for_refusal("greeter.js").await["reason"], "publisher_mismatch");
    host.signal("TERM");
    let (_, folder) = host.wait();
    let host = Process::start_in(folder);
    assert_eq!(host.wait_for_refusal("greeter.js").await["reason"], "publisher_mismatch");
    host.wait_for_version("greeter", "1.2.0").await;
}
