//! The names of the files of a catalog folder.
//!
//! A file is a component (`NAME.wasm`) or the source of one (`NAME.js` or `NAME.py`). A source becomes a component with the
//! engine of its language, which is the component `.engines/LANGUAGE.wasm` of the same folder.

use std::path::{Path, PathBuf};

/// The folder of the engines, in the catalog folder.
const ENGINES: &str = ".engines";
/// The languages of sources, as the endings of their files.
const LANGUAGES: [&str; 2] = ["js", "py"];

/// Returns whether a name in the folder is that of a component or a source. Names of hidden and temporary files
/// are not.
pub(super) fn is_component_name(name: &str) -> bool {
    (name.ends_with(".wasm") || is_source(name)) && !name.starts_with(['.', '~', '#'])
}

/// Returns the name of a file of the folder without its ending.
pub(super) fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, ending)) if ending == "wasm" || is_source(name) => stem,
        _ => name,
    }
}

/// Returns whether a file is the source of a component.
pub fn is_source(name: &str) -> bool {
    language(name).is_some()
}

/// Returns the language of a source; `None` if the file is no source.
pub(super) fn language(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    LANGUAGES.into_iter().find(|language| *language == ending)
}

/// Returns the folder and the name of the engine of a language.
pub(super) fn engine(folder: &Path, language: &str) -> (PathBuf, String) {
    (folder.join(ENGINES), format!("{language}.wasm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_and_sources_are_told_by_their_endings() {
        for name in ["a.wasm", "a.js", "a.py", "a.b.wasm", "a.wasm.js"] {
            assert!(is_component_name(name), "{name}");
        }
        for name in
            ["a.mjs", "js", "a.pyc", "a.wasm~", ".a.js", "~a.js", "README.md", "a.ts", ".engines"]
        {
            assert!(!is_component_name(name), "{name}");
        }
        for (name, expected) in
            [("a.wasm", "a"), ("a.js", "a"), ("a.b.wasm", "a.b"), ("a.ts", "a.ts"), ("a", "a")]
        {
            assert_eq!(stem(name), expected);
        }
    }
}
