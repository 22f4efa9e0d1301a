//! The languages of the SDKs: how a project of each is recognised, and what its template consists of.

use clap::ValueEnum;
use std::path::Path;

/// The language of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Language {
    Rust,
    /// JavaScript
    Js,
    /// TypeScript
    Ts,
    Python,
}

/// The files by which a project is recognised.
const PROJECT_FILES: [(&str, Language); 6] = [
    ("Cargo.toml", Language::Rust),
    ("index.ts", Language::Ts),
    ("index.js", Language::Js),
    ("package.json", Language::Js),
    ("app.py", Language::Python),
    ("pyproject.toml", Language::Python),
];

impl Language {
    /// Returns the language of the project in a folder.
    pub(super) fn of(folder: &Path) -> anyhow::Result<Self> {
        let project_file = PROJECT_FILES.iter().find(|(file, _)| folder.join(file).is_file());
        project_file.map(|(_, language)| *language).ok_or_else(|| {
            anyhow::anyhow!(
                "{} has none of {}; create a project with `portolan new NAME --lang rust`",
                folder.display(),
                PROJECT_FILES.map(|(file, _)| file).join(", ")
            )
        })
    }

    /// Returns the embedded folders of the language's template, each with the folder in the project
    /// into which it is written.
    pub(super) fn template(self) -> &'static [(&'static str, &'static str)] {
        const ALL: (&str, &str) = ("host/command/templates/all", "");
        const CASES: (&str, &str) = ("examples/bookshelf-cases", "cases");
        match self {
            Self::Rust => &[
                ALL,
                CASES,
                ("host/command/templates/rust", ""),
                ("examples/bookshelf-rust/src", "src"),
            ],
            Self::Js | Self::Ts => {
                &[ALL, CASES, ("host/command/templates/js", ""), ("examples/bookshelf-js", "")]
            }
            Self::Python => &[
                ALL,
                CASES,
                ("host/command/templates/python", ""),
                ("examples/bookshelf-python", ""),
            ],
        }
    }
}
