//! Assembles the adapter for modules that import WASI 0.1.

use std::{env, error::Error, fs, path::PathBuf};

const SOURCE: &str = "src/preview1/adapter.wat";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={SOURCE}");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    Ok(fs::write(out.join("adapter.wasm"), wat::parse_file(SOURCE)?)?)
}
