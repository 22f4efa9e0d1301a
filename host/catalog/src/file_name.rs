//! The names of the files of a catalog folder.
//!
//! A file is a component (`NAME.wasm`) or the source of one (`NAME.js` or `NAME.py`). A source becomes a
//! component with the engine of its language, which is the component `.engines/LANGUAGE.wasm` of the same folder.

use portolan_names::is_invisible;
use std::path::{Path, PathBuf};

/// The folder of the engines, in the catalog folder.
const ENGINES: &str = ".engines";
/// The languages of sources, as the endings of their files.
const LANGUAGES: [&str; 2] = ["js", "py"];

/// Returns whether a name in the folder is that of a component or a source. Names of hidden and temporary files
/// are not, nor are names with characters that cannot be seen.
pub(super) fn is_component_name(name: &str) -> bool {
    (name.ends_with(".wasm") || is_source(name))
        && !name.starts_with(['.', '~', '#'])
        && !name.contains(is_invisible)
}

/// Returns the name of the publisher of an unsigned file: the file's name without `.wasm`, or for a source
/// `source/` and its whole name. So files of several languages with one stem have several publishers.
pub(super) fn publisher_name(file: &str) -> String {
    match is_source(file) {
        true => format!("source/{file}"),
        false => file.strip_suffix(".wasm").unwrap_or(file).to_owned(),
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
    }

    #[test]
    fn a_name_with_a_line_break_or_a_hidden_direction_is_not_a_component() {
        for name in ["a\nb.js", "a\u{202e}b.wasm", "a\u{7}.py"] {
            assert!(!is_component_name(name), "{name:?}");
        }
    }

    #[test]
    fn files_of_several_languages_have_several_publishers() {
        let names = ["a.wasm", "a.js", "a.py", "a.js.wasm", "source.wasm"].map(publisher_name);
        assert_eq!(names, ["a", "source/a.js", "source/a.py", "a.js", "source"]);
    }
}
