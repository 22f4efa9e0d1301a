//! Mistakes of authors in components and cases: each is reported in one sentence with
//! its place and its fix.

use crate::{
    cases::author_mistakes::{assert_reported, run_author_command},
    harness::component,
};
use std::fs;
use tempfile::TempDir;

/// Returns a component that begins with `more` and whose exports do not have the contract's types.
fn component_with(more: &str) -> Vec<u8> {
    let text = format!(
        r#"(component {more}
            (core module $m (func (export "f") (result i32) unreachable))
            (core instance $i (instantiate $m))
            (func $f (result u32) (canon lift (core func $i "f")))
            (export "describe" (func $f)) (export "call" (func $f)))"#
    );
    wat::parse_str(text).unwrap()
}

#[test]
fn an_invalid_file_is_reported_by_check_and_componentize() {
    let folder = TempDir::new().unwrap();
    let large = r#"(core module $l (memory 20000)) (core instance (instantiate $l))"#;
    let newer = r#"(import "portolan:capability/context@3.0.0" (instance))"#;
    let without = String::from_utf8_lossy(br#"(component (core module $m (func (export "f") (result i32) unreachable)) (core instance $i (instantiate $m)) (func $f (result u32) (canon lift (core func $i "f"))) (export "describe" (func $f)))"#).into_owned();
    let files: [(&str, Vec<u8>, &str); 8] = [
        ("text", b"hello".to_vec(), "not WebAssembly (not_wasm)\n  to fix it: build a component"),
        (
            "module",
            wat::parse_str("(module)").unwrap(),
            "a core WebAssembly module, not a component (core_module)\n  to fix it: make it a component",
        ),
        (
            "no_call",
            wat::parse_str(without).unwrap(),
            "no export `call` found (contract_mismatch)\n  to fix it: build it against",
        ),
        (
            "types",
            component_with(""),
            "(contract_mismatch)\n  to fix it: build it against package portolan:capability@2.0.0",
        ),
        (
            "newer",
            component_with(newer),
            "imports portolan:capability/context@3.0.0 which this host does not offer (unknown_import)\n  to fix it: use only the interfaces of portolan:capability@2.0.0",
        ),
        (
            "unknown",
            component_with(r#"(import "acme:shop/stuff@1.0.0" (instance))"#),
            "imports acme:shop/stuff@1.0.0 which this host does not offer",
        ),
        (
            "large",
            component_with(large),
            "needs more than a sandbox has: memory has a minimum byte size of 1310720000",
        ),
        ("cut", component("greeter")[..2000].to_vec(), "it is damaged or cut short"),
    ];
    for (name, bytes, sentence) in files {
        let file = format!("{name}.wasm");
        fs::write(folder.path().join(&file), bytes).unwrap();
        assert_reported(name, run_author_command(folder.path(), &["check", &file]), sentence);
    }
    for command in ["check", "test", "publish"] {
        assert_reported(
            command,
            run_author_command(folder.path(), &[command, "missing.wasm"]),
            "missing.wasm; name another, or build it: `portolan build FOLDER` writes FOLDER/NAME.wasm",
        );
    }
    let module =
        run_author_command(folder.path(), &["componentize", "module.wasm", "-o", "out.wasm"]);
    assert_reported(
        "componentize",
        module,
        "module.wasm cannot be made a component: it exports no `describe`; export",
    );
    fs::write(folder.path().join("key"), "secret").unwrap();
    let signed = run_author_command(folder.path(), &["sign", "types.wasm", "--key", "key"]);
    assert_reported(
        "key",
        signed,
        "key is not a signing key: a key has 64 hexadecimal digits, as `portolan keygen` writes it",
    );
    let against = ["check", "cut.wasm", "--against", "http://127.0.0.1:1"];
    fs::write(folder.path().join("cut.wasm"), component("bookshelf")).unwrap();
    assert_reported(
        "no host",
        run_author_command(folder.path(), &against),
        "no host answers at http://127.0.0.1:1; give --against a running host, or a file",
    );
}

#[test]
fn an_invalid_case_is_reported_with_its_file_its_name_and_its_field() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("bookshelf.wasm"), component("bookshelf")).unwrap();
    fs::create_dir(folder.path().join("cases")).unwrap();
    for (what, case, sentence) in [
        (
            "not JSON",
            r#"{"name": "a",}"#,
            "cases/a.json is not JSON: trailing comma at line 1 column 14",
        ),
        (
            "a typo",
            r#"{"name": "a", "acton": "get"}"#,
            "cases/a.json: the case \"a\" cannot be read: unknown field `acton`, expected one of `name`, `caller`,",
        ),
        (
            "an unknown caller",
            r#"{"name": "a", "action": "get", "caller": "nobody"}"#,
            "cases/a.json: the case \"a\" cannot be read: caller must be \"anonymous\", \"agent\", \"system\" or {\"agent\":",
        ),
        (
            "no time",
            r#"{"name": "a", "action": "get", "at": "noon"}"#,
            "cases/a.json: the case \"a\" cannot be read: at is \"noon\"; write a time such as 2026-03-01T09:00:00Z",
        ),
        (
            "no collection",
            r#"{"name": "a", "action": "get", "before": {"shelves": [{}]}, "expect": {"output": {}}}"#,
            "before.shelves: there is no collection shelves",
        ),
        (
            "no action",
            r#"{"name": "a", "action": "git", "expect": {"output": {}}}"#,
            "unknown_action",
        ),
        (
            "a wrong input",
            r#"{"name": "a", "action": "get", "input": {"ID": "b"}, "expect": {"output": {}}}"#,
            "{\"pointer\":\"/ID\",\"rule\":\"additionalProperties\",\"expected\":[\"id\"],",
        ),
    ] {
        fs::write(folder.path().join("cases/a.json"), case).unwrap();
        assert_reported(
            what,
            run_author_command(folder.path(), &["test", "bookshelf.wasm"]),
            sentence,
        );
    }
    for (arguments, sentence) in [
        (
            ["new", "Book-Shelf", "--lang", "js"],
            "\"Book-Shelf\" cannot be the name of a capability: write at most 64 lower-case letters",
        ),
        (["new", "shelf", "--lang", "cobol"], "[possible values: rust, js, ts, python]"),
    ] {
        let (succeeded, text) = run_author_command(folder.path(), &arguments);
        assert!(!succeeded && text.contains(sentence), "{text}");
    }
}
