//! `portolan keygen` and `portolan sign`.

use anyhow::Context as _;
use clap::Args;
use portolan_signing::{Succession, create_key, read_key, sign};
use portolan_vocabulary::Publisher;
use std::{fs, path::PathBuf, process::ExitCode};

/// Arguments of `portolan keygen`.
#[derive(Debug, Args)]
pub(super) struct Keygen {
    /// The new file, which only you may read
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The file with your key so far: the new key succeeds it, and FILE.succession says so
    #[arg(long, value_name = "FILE")]
    succeeds: Option<PathBuf>,
}

/// Arguments of `portolan sign`.
#[derive(Debug, Args)]
pub(super) struct Sign {
    /// The component
    #[arg(value_name = "FILE.wasm")]
    component: PathBuf,
    /// The file with the key, from `portolan keygen`
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Where to write the signed component; without it, the component is replaced
    #[arg(long, value_name = "FILE.wasm")]
    output: Option<PathBuf>,
}

impl Keygen {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let previous = match &self.succeeds {
            Some(file) => Some((read_key(file)?, Succession::read(file)?)),
            None => None,
        };
        let key = create_key(&self.file).context("the key is not created")?;
        let public = key.verifying_key().to_bytes();
        line!("{}", Publisher::Key(public));
        if let Some((previous_key, succession)) = previous {
            let file = succession.followed(&previous_key, &public)?.write(&self.file)?;
            line!("{} says that it succeeds your key so far: keep both together", file.display());
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Sign {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let Self { component, key, output } = self;
        let (key, succession) = (read_key(&key)?, Succession::read(&key)?);
        let bytes =
            fs::read(&component).with_context(|| format!("cannot read {}", component.display()))?;
        anyhow::ensure!(
            bytes.starts_with(b"\0asm"),
            "{} is not WebAssembly: name the component's file",
            component.display()
        );
        let signed =
            sign(&bytes, &key, &succession).with_context(|| component.display().to_string())?;
        let output = output.unwrap_or(component);
        let unfinished = output.with_extension("unfinished");
        fs::write(&unfinished, signed)
            .and_then(|()| fs::rename(&unfinished, &output))
            .with_context(|| format!("cannot write {}", output.display()))?;
        line!(
            "{} is signed by {}",
            output.display(),
            Publisher::Key(key.verifying_key().to_bytes())
        );
        Ok(ExitCode::SUCCESS)
    }
}
