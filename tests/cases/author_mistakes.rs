//! Mistakes of authors in their source: each is reported in one sentence with its place and its
//! fix, without a stack trace.

use crate::{
    cases::clients::clients_folder,
    harness::{binary, command},
};
use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
};
use tempfile::TempDir;

/// Texts that no author should have to read: they show the inside of a tool or of the host.
const INNER: [&str; 9] = [
    "Traceback",
    "node:internal",
    "<frozen",
    "stack backtrace",
    "RUST_BACKTRACE",
    "unexpected exception",
    "untagged enum",
    "os error",
    "Py_",
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the `PATH` with the compilers of the languages.
pub fn path_with_tools() -> OsString {
    let clients = clients_folder();
    let programs = ["node_modules/.bin", "python/bin"].map(|programs| clients.join(programs));
    let path = env::var_os("PATH").unwrap_or_default();
    env::join_paths(programs.into_iter().chain(env::split_paths(&path))).unwrap()
}

/// Runs the command in a folder, with the tools of the tests. Returns whether it succeeded, and
/// what it printed.
pub fn run_author_command(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let target = binary().parent().unwrap().parent().unwrap();
    let variables = ["HOME", "CARGO_HOME", "RUSTUP_HOME"];
    let mut command: Command = command(folder);
    let output = command
        .args(arguments)
        .envs(variables.iter().filter_map(|name| Some((name, env::var_os(name)?))))
        .env("PATH", path_with_tools())
        .env("PYTHONPATH", clients_folder().join("python"))
        .env("XDG_CACHE_HOME", target.join("author-cache"))
        .env("CARGO_TARGET_DIR", target.join("author-target"))
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TERM_QUIET", "true")
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// Asserts that a command fails with this sentence, or passes with it as a note.
pub fn assert_reported(what: &str, (succeeded, text): (bool, String), sentence: &str) {
    let is_note = sentence.starts_with("note ");
    assert_eq!(succeeded, is_note, "{what}: {text}");
    assert!(text.contains(sentence), "{what}: no {sentence:?} in\n{text}");
    for inner in INNER {
        assert!(!text.contains(inner), "{what}: {inner} in\n{text}");
    }
}

/// A mistake in the bookshelf: its name, the text that is replaced, the replacement, and the
/// sentence that the author reads.
type Change = (&'static str, &'static str, &'static str, &'static str);

/// Makes each change in a new project of its own and runs a command on it.
fn check_changes(language: &str, source: &str, commands: &str, changes: &[Change]) {
    // Cargo confuses two projects that have the same name in the same target folder.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = TempDir::new().unwrap();
    let (made, text) = run_author_command(folder.path(), &["new", "bookshelf", "--lang", language]);
    assert!(made, "{text}");
    let project = folder.path().join("bookshelf");
    if language == "rust" {
        fs::copy(workspace().join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
    }
    let file = project.join(source);
    let right = fs::read_to_string(&file).unwrap();
    for (what, from, into, sentence) in changes {
        assert!(right.contains(from), "{what}: {from}");
        fs::write(&file, right.replacen(from, into, 1)).unwrap();
        assert_reported(
            &format!("{language}: {what}"),
            run_author_command(&project, &[commands]),
            sentence,
        );
    }
}

#[test]
fn mistakes_in_rust_are_reported_by_the_compiler() {
    let built: [Change; 8] = [
        ("syntax", "fn get(_call: ", "fn get(_call:: ", "src/lib.rs:"),
        (
            "no description",
            "    /// Give a book back\n    ///\n    /// Ends your loan of a book.\n",
            "",
            "write a doc comment: its first paragraph is the action's title, the rest its description",
        ),
        (
            "unknown access",
            "access = read",
            "access = reed",
            "one of read, write, events, open, internal",
        ),
        (
            "unknown argument",
            "read, idempotent)",
            "read, idempotant)",
            "unknown; known here: access, idempotent,",
        ),
        (
            "unknown kind",
            "#[refusal(not_found",
            "#[refusal(missing",
            "unknown; known here: a kind (invalid,",
        ),
        ("no id", "id = \"bookshelf\", ", "", "#[capability(id = \"…\")] is missing"),
        ("duplicate action", "fn get(", "fn add(", "duplicate definitions for `add`"),
        (
            "wrong signature",
            "fn overview(call: &Call)",
            "fn overview(call: &Call, a: u8, b: u8)",
            "an action looks like `fn name(call: &Call, input: Input)",
        ),
    ];
    check_changes("rust", "src/lib.rs", "build", &built);
}

#[test]
fn mistakes_in_rust_that_compile_are_reported_by_the_cases() {
    let tested: [Change; 5] = [
        (
            "a wrong id",
            "id = \"bookshelf\", title",
            "id = \"Book Shelf\", title",
            "- id: \"Book Shelf\" is not a capability id\n    to fix it: use lower-case names",
        ),
        (
            "an example that breaks its schema",
            "example = &\"9780156027601\"",
            "example = &\"978\"",
            "actions.add.examples.0: breaks the input schema",
        ),
        (
            "an index over no field",
            ".index(\"title\", &[\"title\"])",
            ".index(\"title\", &[\"title\"]).index(\"titel\", &[\"titel\"])",
            "note  collections.books.indexes.titel: no document of the cases has titel",
        ),
        (
            "an undeclared person",
            ".people(&[Person::delete(\"owner_id\")])",
            ".nobody()",
            "undeclared_person: the document names a person at owner_id",
        ),
        (
            "a panic",
            "let book = BOOKS.require(&id, ShelfError::BookNotFound)?.value;\n        if",
            "let book = BOOKS.require(&id, ShelfError::BookNotFound)?.value;\n        assert!(book.deposit == 1, \"no deposit\");\n        if",
            "no deposit; in ",
        ),
    ];
    check_changes("rust", "src/lib.rs", "test", &tested);
    let printed: [Change; 1] = [(
        "println",
        "let id = call.new_id(\"book\");",
        "let id = call.new_id(\"book\");\n        println!(\"{id}\");",
        "note  ./src/lib.rs:",
    )];
    check_changes("rust", "src/lib.rs", "build", &printed);
}

#[test]
fn mistakes_in_javascript_are_reported_with_their_lines() {
    let built: [Change; 14] = [
        (
            "a timer",
            "export default capability({",
            "setTimeout(() => {}, 1);\nexport default capability({",
            "setTimeout is not defined; no time passes in a call: set a timer with timers.set",
        ),
        (
            "the network",
            "export default capability({",
            "fetch(\"https://a.example\");\nexport default capability({",
            "fetch is not defined; a sandbox has no network",
        ),
        (
            "a module of Node.js",
            "export default capability({",
            "const fs = require(\"fs\");\nexport default capability({",
            "index.js:29: there is no module fs: a sandbox has no files",
        ),
        (
            "the environment",
            "export default capability({",
            "const key = process.env.KEY;\nexport default capability({",
            "process is not defined; a sandbox has no processes and no environment",
        ),
        (
            "the time of the build",
            "export default capability({",
            "const started = Date.now();\nexport default capability({",
            "index.js:29: The time is used at the top level, which a build runs once and a source at each call: use it in the run of an action.",
        ),
        (
            "syntax",
            "export default capability({",
            "export default capability({{",
            "index.js:29: Expected identifier but found \"{\"; correct the line",
        ),
        (
            "unknown name",
            "integer(\"All books.\")",
            "integr(\"All books.\")",
            "integr is not defined",
        ),
        (
            "no description",
            "description: \"Ends your loan of a book.\",",
            "",
            "index.js: actions.give_back.description is missing: tell agents whether and how to call it.",
        ),
        (
            "unknown field",
            "emits: [borrowed]",
            "emit: [borrowed]",
            "index.js: actions.borrow has no field emit: use access,",
        ),
        ("duplicate action", "    get: {", "    add: {", "Duplicate key \"add\" in object literal"),
        (
            "unknown kind",
            "\"not_found\", \"There",
            "\"missing\", \"There",
            "refusal book_not_found has the kind missing, which is not a kind of error: use invalid,",
        ),
        (
            "an example that breaks its schema",
            "example: \"9780156027601\"",
            "example: \"978\"",
            "actions.add.example 1 does not fit the input: /isbn does not match",
        ),
        (
            "no people",
            ", people: [] });",
            " });",
            "collection books.people is missing: list the paths",
        ),
        (
            "no default export",
            "export default capability",
            "export const shelf = capability",
            "write export default capability({ … }).",
        ),
    ];
    check_changes("js", "index.js", "build", &built);
}

#[test]
fn mistakes_in_javascript_that_build_are_reported_by_the_cases() {
    let tested: [Change; 7] = [
        (
            "a timer in a call",
            "const book = books.require(id, BookNotFound).value, taken",
            "setTimeout(() => {}, 1); const book = books.require(id, BookNotFound).value, taken",
            "setTimeout is not defined; no time passes in a call: set a timer with timers.set",
        ),
        (
            "an answer of another form",
            "books: books.count(), borrowed",
            "books: \"many\", borrowed",
            "the output of overview does not fit: /books is not integer. Change what run returns",
        ),
        (
            "a step to no action",
            "{ next: step(\"overview\") }",
            "{ next: step(\"overvew\") }",
            "overvew, which agents cannot call; correct the step",
        ),
        (
            "a call without an answer of the case",
            "books: books.count(), borrowed",
            "books: balance.call().available, borrowed",
            "no answer for agent_credits.balance {}; add to \"calls\": {\"capability\": \"agent_credits\"",
        ),
        (
            "an index over no field",
            "indexes: [\"title\"]",
            "indexes: [\"title\", \"titel\"]",
            "note  collections.books.indexes.titel: no document of the cases has titel; correct the path",
        ),
        (
            "an undeclared error",
            "errors: [BookNotFound, NotBorrowed]",
            "errors: [BookNotFound]",
            "give_back refused with not_borrowed, which it does not declare: add its class to actions.give_back.errors.",
        ),
        (
            "an undeclared person",
            "people: [{ path: \"owner_id\", erasure: \"delete\" }]",
            "people: []",
            "undeclared_person: the document names a person at owner_id",
        ),
    ];
    check_changes("js", "index.js", "test", &tested);
}

#[test]
fn mistakes_in_python_are_reported_with_their_lines() {
    let built: [Change; 15] = [
        (
            "a file",
            "\napp = App(",
            "\nTEXT = open(__file__).read()\napp = App(",
            "open() cannot work here: a sandbox has no files: write the content into a module.",
        ),
        (
            "sleep",
            "\napp = App(",
            "\nimport time\ntime.sleep(1)\napp = App(",
            "time.sleep() cannot work here: no time passes in a call",
        ),
        (
            "the time of the build",
            "\napp = App(",
            "\nNOW = datetime.now()\napp = App(",
            "datetime.datetime.now() cannot work here: a component has the time of its build there",
        ),
        (
            "the randomness of the build",
            "\napp = App(",
            "\nLUCK = chance.random()\napp = App(",
            "random.random() cannot work here: a component has the value of its build there",
        ),
        (
            "syntax",
            "def get(call, id: ID) ->",
            "def get(call, id: ID ->",
            "invalid syntax; correct the line 'def get(call, id: ID -> Book:'.",
        ),
        (
            "unknown module",
            "from math import ceil",
            "from maths import ceil",
            "app.py:7: ModuleNotFoundError: No module named 'maths'; put maths into the folder",
        ),
        (
            "unknown name",
            "idempotent=True",
            "idempotent=true",
            "NameError: name 'true' is not defined",
        ),
        (
            "no description",
            "    \"\"\"Ends your loan of a book.\"\"\"\n",
            "",
            "The action give_back has no docstring; write \"\"\"What it does.\"\"\" below its def.",
        ),
        (
            "unknown argument",
            "title=\"Read a book\", ",
            "titel=\"Read a book\", ",
            "App.action() got an unexpected keyword argument 'titel'; the names are access,",
        ),
        (
            "unknown access",
            "access=\"read\"",
            "access=\"reed\"",
            "There is no access reed; use one of read, write, events, open, internal.",
        ),
        ("duplicate action", "def get(", "def add(", "There are two actions add; rename one."),
        (
            "an index over no field",
            "indexes=[\"title\"]",
            "indexes=[\"titel\"]",
            "NewBook has no field titel, which books declares; its fields are title, author, isbn, deposit.",
        ),
        (
            "an example that breaks its schema",
            "Example(\"9780156027601\")",
            "Example(\"978\")",
            "The example 1 of add does not fit its input: isbn does not match",
        ),
        ("no people", "people=[], ", "", "missing 1 required keyword-only argument: 'people'"),
        (
            "no component",
            "WitWorld = app.world()",
            "",
            "app.py:1: There is no WitWorld; end the file with WitWorld = app.world().",
        ),
    ];
    check_changes("python", "app.py", "build", &built);
}

#[test]
fn mistakes_in_python_that_build_are_reported_by_the_cases() {
    let tested: [Change; 3] = [
        (
            "a file in a call",
            "    yours = LOANS.count(",
            "    open(\"a\")\n    yours = LOANS.count(",
            "(a sandbox has no files, no network and no other programs) at app.py:121 in overview",
        ),
        (
            "an answer of another form",
            "\"borrowed\": LOANS.count()",
            "\"borrowed\": \"many\"",
            "/borrowed is a string, and the declaration says type \"integer\"",
        ),
        (
            "a step to no action",
            "next=step(\"overview\")",
            "next=step(\"overvew\")",
            "overvew, which agents cannot call; correct the step",
        ),
    ];
    check_changes("python", "app.py", "test", &tested);
}
