//! A project: where its files are, and what it is written in.

use crate::cli::author::{language::Language, sdk};
use anyhow::Context as _;
use std::path::{Path, PathBuf};

/// A project that can be built.
#[derive(Debug, Clone)]
pub(in crate::cli::author) struct Project {
    pub(super) folder: PathBuf,
    pub(super) language: Language,
    pub(super) sdk: PathBuf,
}

impl Project {
    /// Recognises the project in a folder, and links the SDKs into it.
    pub(in crate::cli::author) fn open(folder: &Path, sdk: Option<&Path>) -> anyhow::Result<Self> {
        let language = Language::of(folder)?;
        let sdk = sdk::folder(sdk)?;
        sdk::link(folder, &sdk)?;
        Ok(Self { folder: folder.to_owned(), language, sdk })
    }

    /// Returns the folder with its source.
    pub(in crate::cli::author) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the default file of the component: `NAME.wasm` in the project's folder, where `NAME`
    /// is the folder's name.
    pub(in crate::cli::author) fn default_output(&self) -> anyhow::Result<PathBuf> {
        let folder = self.folder.canonicalize()?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(self.folder.join(format!("{name}.wasm")))
    }

    /// Returns the folder for the intermediate files of a build, which is created if it does not
    /// exist.
    pub(in crate::cli::author) fn scratch(&self) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join(".portolan/build");
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder)
    }
}
