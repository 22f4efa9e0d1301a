//! Takes the public key of the host's own publisher into the binary: `PORTOLAN_PUBLISHER` (64 hexadecimal
//! digits), or the one that `cargo xtask` keeps for this user.

use std::{env, fs, path::PathBuf};

fn main() {
    for name in ["PORTOLAN_PUBLISHER", "XDG_CONFIG_HOME", "HOME"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let given = |name: &str| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let settings = given("XDG_CONFIG_HOME").or_else(|| Some(given("HOME")?.join(".config")));
    let file = settings.map(|settings| settings.join("portolan/publisher.pub"));
    if let Some(file) = &file {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    let key = env::var("PORTOLAN_PUBLISHER").ok().or_else(|| fs::read_to_string(file?).ok());
    if let Some(key) = key {
        println!("cargo::rustc-env=PORTOLAN_PUBLISHER={}", key.trim());
    }
}
