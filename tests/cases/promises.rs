//! Each sentence of the pages and answers about privacy, safety and fairness is a promise that tests
//! show, or a plain description: `tests/corpora/promises.toml` says which.

use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The folders with tests.
const FOLDERS: [&str; 7] = ["tests", "plugins", "host", "sdk", "feeds", "reach", "map"];
/// The tags of answers that have to be listed.
const TAGS: [&str; 4] = ["privacy", "safety", "discrimination", "do not disturb"];
/// The least number of promises.
const PROMISES: usize = 130;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns what the file says of each text: the sentences, each with the names of its tests.
fn listed() -> BTreeMap<String, Vec<(String, Vec<String>)>> {
    let text = fs::read_to_string(workspace().join("tests/corpora/promises.toml")).unwrap();
    let file: Value = toml::from_str(&text).unwrap();
    let texts = |list: &Value| -> Vec<String> { serde_json::from_value(list.clone()).unwrap() };
    let source = |source: &Value| {
        let descriptions = texts(&source["descriptions"]).into_iter();
        let mut sentences: Vec<_> = descriptions.map(|sentence| (sentence, Vec::new())).collect();
        for promise in source["promise"].as_array().unwrap() {
            let tests = texts(&promise["tests"]);
            assert!(!tests.is_empty(), "{promise:#} has no test");
            sentences.push((promise["sentence"].as_str().unwrap().to_owned(), tests));
        }
        (source["text"].as_str().unwrap().to_owned(), sentences)
    };
    file["source"].as_array().unwrap().iter().map(source).collect()
}

/// Returns the paragraphs, list items and rows of tables of a text in Markdown, without headings, code
/// and the heads of tables.
fn blocks(markdown: &str) -> Vec<String> {
    let body = markdown.split_once("\n---\n").unwrap().1;
    let mut blocks = vec![String::new()];
    let mut in_code = false;
    for line in body.lines().map(str::trim) {
        let is_fence = line.starts_with("```");
        in_code ^= is_fence;
        if is_fence || in_code || line.is_empty() || line.starts_with('#') {
            blocks.push(String::new());
        } else if line.starts_with("|---") {
            blocks.pop();
        } else if line.starts_with('|') {
            blocks.push(line.to_owned());
        } else if let Some(item) = line.strip_prefix("- ") {
            blocks.push(item.to_owned());
        } else {
            let block = blocks.last_mut().unwrap();
            block.push_str(if block.is_empty() { "" } else { " " });
            block.push_str(line);
        }
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// Returns the sentences of a text in Markdown. A row of a table is one sentence.
fn sentences(markdown: &str) -> Vec<String> {
    let begins = |next: &str| {
        next.strip_prefix(' ').is_some_and(|next| {
            next.starts_with(|first: char| first.is_uppercase() || "`*\"".contains(first))
        })
    };
    let mut all = Vec::new();
    for block in blocks(markdown) {
        let mut rest = block.as_str();
        let ends = |text: &str| {
            text.match_indices(['.', '!', '?'])
                .map(|(at, _)| {
                    let after = &text[at + 1..];
                    text.len() - after.trim_start_matches(['*', '"', '`', ')']).len()
                })
                .find(|end| begins(&text[*end..]))
        };
        while let Some(end) = ends(rest).filter(|_| !block.starts_with('|')) {
            all.push(rest[..end].to_owned());
            rest = &rest[end + 1..];
        }
        all.push(rest.to_owned());
    }
    all
}

fn for_each_file(folder: &Path, visit: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_built = path.ends_with("target") || path.ends_with("node_modules");
        match path.is_dir() {
            true if is_built => {}
            true => for_each_file(&path, visit),
            false => visit(&path),
        }
    }
}

/// Returns the names of all test functions.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut collect = |path: &Path| {
        if path.extension().is_none_or(|extension| extension != "rs") {
            return;
        }
        let mut is_test = false;
        for line in fs::read_to_string(path).unwrap().lines().map(str::trim) {
            is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
            let signature = line.trim_start_matches("async ");
            if let Some(signature) = signature.strip_prefix("fn ").filter(|_| is_test) {
                names.insert(signature.split('(').next().unwrap().to_owned());
                is_test = false;
            }
        }
    };
    for folder in FOLDERS {
        for_each_file(&workspace().join(folder), &mut collect);
    }
    names
}

#[test]
fn every_promise_of_the_served_texts_has_a_test() {
    let (listed, tests) = (listed(), tests());
    let (mut faults, mut promises) = (Vec::new(), 0);
    for (text, entries) in &listed {
        let served = fs::read_to_string(workspace().join(text)).unwrap();
        let served: BTreeSet<_> = sentences(&served).into_iter().collect();
        let entered: BTreeSet<_> = entries.iter().map(|(sentence, _)| sentence.clone()).collect();
        assert_eq!(entered.len(), entries.len(), "{text}: a sentence is listed twice");
        for sentence in served.difference(&entered) {
            faults.push(format!("{text}: is this a promise with a test? {sentence}"));
        }
        for sentence in entered.difference(&served) {
            faults.push(format!("{text}: this is not there any more: {sentence}"));
        }
        promises += entries.iter().filter(|(_, named)| !named.is_empty()).count();
        for name in
            entries.iter().flat_map(|(_, named)| named).filter(|name| !tests.contains(*name))
        {
            faults.push(format!("{text}: there is no test {name}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(promises >= PROMISES, "{promises} promises");
}

#[test]
fn every_text_about_privacy_and_safety_is_listed() {
    let listed = listed();
    let mut texts = vec![
        "plugins/content/pages/privacy.md".to_owned(),
        "plugins/content/pages/safety-and-fairness.md".to_owned(),
    ];
    for_each_file(&workspace().join("plugins/faq/entries"), &mut |path| {
        let entry = fs::read_to_string(path).unwrap();
        let tags = entry.lines().find_map(|line| line.strip_prefix("tags: ")).unwrap();
        if tags.split(", ").any(|tag| TAGS.contains(&tag)) {
            let name = path.file_name().unwrap().to_str().unwrap();
            texts.push(format!("plugins/faq/entries/{name}"));
        }
    });
    let missing: Vec<_> = texts.iter().filter(|text| !listed.contains_key(*text)).collect();
    assert!(missing.is_empty() && texts.len() > 6, "{missing:#?}");
}

#[test]
fn sentences_are_found() {
    let text = "---\na: b\n---\n# Head\n\nOne `is.` Two\nlines! `Code` is 1.5 here.\n\n\
                | A | B |\n|---|---|\n| x. Y | z |\n\n```json\n{\"No.\": 1}\n```\n\n- **Item.** And so on\n";
    let found = sentences(text);
    let expected = [
        "One `is.`",
        "Two lines!",
        "`Code` is 1.5 here.",
        "| x. Y | z |",
        "**Item.**",
        "And so on",
    ];
    assert_eq!(found, expected);
}
