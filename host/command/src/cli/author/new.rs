//! `portolan new`.

use super::{embedded, language::Language, sdk};
use anyhow::Context as _;
use clap::Args;
use portolan_vocabulary::is_snake_case;
use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// The name of the capability in the templates.
const TEMPLATE: &str = "bookshelf";
/// The line of package.json that names the main file, and what a project in TypeScript has in its place.
const MAIN_FILE: &str = r#""main": "index.ts""#;
const MAIN_FILE_AND_TOOL: &str =
    "\"main\": \"index.ts\",\n  \"devDependencies\": { \"typescript\": \"^5.9.0\" }";

/// Arguments of `portolan new`.
#[derive(Debug, Args)]
pub(in crate::cli) struct New {
    /// The folder to create; its last name is the capability's id
    #[arg(value_name = "NAME")]
    folder: PathBuf,
    /// The language of the capability
    #[arg(long, value_enum)]
    lang: Language,
    /// A folder with the SDKs, such as a checkout of Portolan [default: the SDKs in this binary]
    #[arg(long, value_name = "FOLDER")]
    sdk: Option<PathBuf>,
}

impl New {
    pub(in crate::cli) fn run(self) -> anyhow::Result<ExitCode> {
        let Self { folder, lang, sdk } = self;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        anyhow::ensure!(
            is_snake_case(&name),
            "{name:?} cannot be the name of a capability: write at most 64 lower-case letters, digits and _, a letter first"
        );
        ensure_empty(&folder)?;
        for (path, text) in template(lang) {
            embedded::write(&folder.join(path), &text.replace(TEMPLATE, &name))?;
        }
        sdk::link(&folder, &sdk::folder(sdk.as_deref())?)?;
        line!("created {0}\nnext: cd {0} && portolan test", folder.display());
        Ok(ExitCode::SUCCESS)
    }
}

fn ensure_empty(folder: &Path) -> anyhow::Result<()> {
    match fs::read_dir(folder) {
        Ok(mut entries) => {
            anyhow::ensure!(
                entries.next().is_none(),
                "{} is not empty; choose another name, or remove what is in it",
                folder.display()
            );
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", folder.display())),
    }
}

/// Returns the files of a new project: their paths and texts.
fn template(language: Language) -> impl Iterator<Item = (PathBuf, String)> {
    let files = language.template().iter().flat_map(|(from, into)| {
        embedded::files_below(from).map(move |(path, text)| (Path::new(into).join(path), text))
    });
    files.map(move |(path, text)| {
        let path = path.to_string_lossy();
        let path = if path == "gitignore" { ".gitignore" } else { &path };
        // The template in JavaScript is valid TypeScript too, so only the name of its file changes.
        match language {
            Language::Ts => {
                let to_typescript = |text: &str| text.replace("index.js", "index.ts");
                (
                    to_typescript(path).into(),
                    to_typescript(text).replace(MAIN_FILE, MAIN_FILE_AND_TOOL),
                )
            }
            _ => (path.into(), text.to_owned()),
        }
    })
}
