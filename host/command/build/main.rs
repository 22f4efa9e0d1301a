//! Embeds in the binary what it cannot find at run time: the public key of the host's own publisher, and the
//! files that authors of capabilities need; and what the build knows of itself.

mod embedded;
mod version;

use std::{env, error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    pass_publisher_key();
    version::pass()?;
    embedded::write()
}

/// Passes the public key of the host's own publisher to the compiler: `PORTOLAN_PUBLISHER` (64 hexadecimal
/// digits), or the key that `cargo xtask` keeps for this user. If there is neither, the binary has no such
/// key.
fn pass_publisher_key() {
    for name in ["PORTOLAN_PUBLISHER", "XDG_CONFIG_HOME", "HOME"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let env_path =
        |name: &str| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let config_folder =
        env_path("XDG_CONFIG_HOME").or_else(|| Some(env_path("HOME")?.join(".config")));
    let file = config_folder.map(|config_folder| config_folder.join("portolan/publisher.pub"));
    if let Some(file) = &file {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    let key = env::var("PORTOLAN_PUBLISHER").ok().or_else(|| fs::read_to_string(file?).ok());
    if let Some(key) = key {
        println!("cargo::rustc-env=PORTOLAN_PUBLISHER={}", key.trim());
    }
}
