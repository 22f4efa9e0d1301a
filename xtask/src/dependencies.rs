//! The rules of `deny.toml` about licences, sources and wildcards, checked against `cargo metadata`.
//!
//! These tests run everywhere; `cargo xtask test` also runs `cargo deny` where it is installed.

use crate::run::{cargo_command, workspace};
use serde::Deserialize;
use std::{collections::BTreeSet, fs};

/// The part of `deny.toml` that is checked here.
#[derive(Deserialize)]
struct Rules {
    graph: Graph,
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Graph {
    targets: Vec<String>,
}

#[derive(Deserialize)]
struct Licenses {
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Bans {
    wildcards: String,
    allow_wildcard_paths: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    unknown_registry: String,
    unknown_git: String,
}

/// The output of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// `None` for a package of the workspace.
    source: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    req: String,
    /// `dev` or `build`; `None` for a normal dependency.
    kind: Option<String>,
    path: Option<String>,
    /// `None` for the default registry.
    registry: Option<String>,
}

/// Returns whether the allowed licences satisfy an SPDX expression. `/` is the older form of `OR`.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let satisfied = parse_alternatives(&mut words, allowed);
    satisfied && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn parse_alternatives(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut satisfied = parse_conjunction(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        satisfied |= parse_conjunction(words, allowed);
    }
    satisfied
}

fn parse_conjunction(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut satisfied = parse_license(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        satisfied &= parse_license(words, allowed);
    }
    satisfied
}

fn parse_license(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    match words.next() {
        Some("(") => {
            let satisfied = parse_alternatives(words, allowed);
            words.next() == Some(")") && satisfied
        }
        Some(license) => match words.next_if_eq(&"WITH") {
            Some(_) => {
                let exception = words.next().unwrap_or_default();
                allowed.contains(&format!("{license} WITH {exception}"))
            }
            None => allowed.contains(license),
        },
        None => false,
    }
}

fn violations(package: &Package, rules: &Rules) -> Vec<String> {
    let mut violations = Vec::new();
    let license = package.license.as_deref().unwrap_or("not stated");
    if !is_allowed(license, &rules.licenses.allow) {
        violations.push(format!("its licence is {license}"));
    }
    if package.source.as_ref().is_some_and(|source| source.starts_with("git+")) {
        violations.push("it comes from a Git repository".to_owned());
    }
    // Development dependencies of external packages are not compiled.
    let compiled = |dependency: &&Dependency| {
        package.source.is_none() || dependency.kind.as_deref() != Some("dev")
    };
    for dependency in package.dependencies.iter().filter(compiled) {
        if dependency.registry.is_some() {
            violations.push(format!("{} comes from another registry", dependency.name));
        }
        if dependency.req == "*" && dependency.path.is_none() {
            violations.push(format!("it takes any version of {}", dependency.name));
        }
    }
    violations
}

fn rules() -> Rules {
    let text = fs::read_to_string(workspace().join("deny.toml")).unwrap();
    toml::from_str(&text).unwrap()
}

#[test]
fn every_dependency_is_one_that_deny_toml_allows() {
    let rules = rules();
    // This test checks these rules as `deny`; if `deny.toml` has another level, the
    // test must be extended.
    let Sources { unknown_registry, unknown_git } = &rules.sources;
    assert_eq!([unknown_registry, unknown_git, &rules.bans.wildcards], ["deny"; 3]);
    assert!(rules.bans.allow_wildcard_paths);
    let mut command = cargo_command(&["metadata", "--format-version", "1", "--locked"]);
    for target in &rules.graph.targets {
        command.args(["--filter-platform", target]);
    }
    let output = command.current_dir(workspace()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Metadata = serde_json::from_slice(&output.stdout).unwrap();
    assert!(metadata.packages.len() > 100);
    let violations: Vec<String> = metadata
        .packages
        .iter()
        .flat_map(|package| {
            let named = |fault| format!("{} {}: {fault}", package.name, package.version);
            violations(package, &rules).into_iter().map(named)
        })
        .collect();
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn a_package_that_breaks_every_rule_is_named_for_each() {
    let package = serde_json::json!({
        "name": "bad", "version": "1.0.0", "license": "GPL-3.0", "source": "git+https://example.org",
        "dependencies": [
            { "name": "any", "req": "*" },
            { "name": "elsewhere", "req": "^1", "registry": "https://example.org" },
            { "name": "tested", "req": "*", "kind": "dev" },
        ],
    });
    let package: Package = serde_json::from_value(package).unwrap();
    assert_eq!(
        violations(&package, &rules()),
        [
            "its licence is GPL-3.0",
            "it comes from a Git repository",
            "it takes any version of any",
            "elsewhere comes from another registry",
        ]
    );
}

#[test]
fn licence_expressions_are_read_as_spdx_says() {
    let allowed = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned).into();
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("MIT AND Zlib", true),
        ("MIT OR GPL-3.0 AND BSL-1.0", true),
        ("(MIT OR GPL-3.0) AND BSL-1.0", false),
        ("(MIT OR GPL-3.0) AND Zlib", true),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
        ("MIT Zlib", false),
        ("(MIT", false),
        ("", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
    }
}
