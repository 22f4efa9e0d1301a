//! The commands of `portolan` that the documents name within their sentences are ones that the program takes.

use clap::{Parser as _, error::ErrorKind};
use portolan_command::Arguments;
use std::{collections::BTreeSet, fs, iter, path::Path};

/// The groups of commands that a document names as a whole: its file and the name.
const GROUPS: [(&str, &str); 1] = [("feeds.md", "feeds")];
/// The least number of different commands in the documents.
const COMMANDS: usize = 80;

/// Returns the texts between backticks within the sentences of a document.
fn quoted(document: &str) -> impl Iterator<Item = &str> {
    let mut is_block = false;
    let sentences = document.lines().filter(move |line| {
        let is_fence = line.starts_with("```");
        is_block ^= is_fence;
        !is_block && !is_fence
    });
    sentences.flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// Returns the arguments in a text, or `None` if it is no command of `portolan`.
fn arguments(text: &str) -> Option<&str> {
    let text = text.strip_prefix("sudo ").unwrap_or(text);
    ["portolan ", "portolan-admin "].iter().find_map(|program| text.strip_prefix(program))
}

/// Returns the words of arguments. Brackets around what may be left out are removed, of `a|b` and `A or B` the first
/// is taken, and `NUMBER` is one.
fn words(arguments: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (index, part) in arguments.split('\'').enumerate() {
        // Every second part is between quotes.
        if index % 2 == 1 {
            words.push(part);
            continue;
        }
        let mut parts = part.split_whitespace();
        while let Some(word) = parts.next() {
            let word = word.trim_matches(['[', ']']);
            match word.split(['\\', '|']).next().unwrap_or(word) {
                "or" => {
                    parts.next();
                }
                "NUMBER" => words.push("1"),
                word => words.push(word),
            }
        }
    }
    words
}

/// Returns why the program does not take these arguments, if so. A command is also named without its arguments, but
/// not without the command that a group needs.
fn fault(arguments: &str) -> Option<String> {
    let words = iter::once("portolan").chain(words(arguments));
    let error = Arguments::try_parse_from(words).err()?;
    (error.kind() != ErrorKind::MissingRequiredArgument).then(|| error.to_string())
}

#[test]
fn each_command_in_the_documents_is_one_that_the_program_takes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let (mut commands, mut faults) = (BTreeSet::new(), Vec::new());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "md") {
            continue;
        }
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let document = fs::read_to_string(&path).unwrap();
        for arguments in quoted(&document).filter_map(arguments) {
            if arguments == "…" || GROUPS.contains(&(file.as_str(), arguments)) {
                continue;
            }
            commands.insert(arguments.to_owned());
            if let Some(fault) = fault(arguments) {
                faults.push(format!("docs/{file}: portolan {arguments}: {fault}"));
            }
        }
    }
    assert!(commands.len() >= COMMANDS, "{} commands: {commands:?}", commands.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_group_without_its_command_and_an_unknown_word_are_faults() {
    for arguments in ["dead-letters", "feeds", "dead-letters show", "doctor --all", "timers ID all"]
    {
        assert!(fault(arguments).is_some(), "{arguments}");
    }
    for arguments in [
        "restore",
        "operators renew",
        "dead-letters replay NUMBER",
        "check [--strict] [--against URL or FILE.wasm] FILE.wasm",
        "new NAME --lang rust\\|js\\|ts\\|python",
        "run media hide --input '{\"media_id\": \"med_…\"}'",
    ] {
        assert_eq!(fault(arguments), None, "{arguments}");
    }
}
