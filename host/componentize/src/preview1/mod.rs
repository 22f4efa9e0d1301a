//! An adapter that implements WASI 0.1 with WASI 0.2, which a host has, for modules that import WASI 0.1.

use crate::{contract::embed_world, error::ComponentizeError};

/// The module name of the imports of WASI 0.1.
pub(crate) const MODULE: &str = "wasi_snapshot_preview1";
/// `adapter.wat`, assembled.
const ADAPTER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/adapter.wasm"));
const TYPES: (&str, &str) = ("adapter.wit", include_str!("adapter.wit"));

/// Returns the core module that implements WASI 0.1 with WASI 0.2.
pub(crate) fn adapter() -> Result<Vec<u8>, ComponentizeError> {
    let mut adapter = ADAPTER.to_vec();
    embed_world(&mut adapter, &[TYPES], "adapter")?;
    Ok(adapter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasmparser::{Parser, Payload};

    #[test]
    fn the_adapter_exports_every_function_of_wasi_0_1() {
        let payloads = Parser::new(0).parse_all(ADAPTER);
        let exports = payloads.filter_map(|payload| match payload.unwrap() {
            Payload::ExportSection(section) => Some(section),
            _ => None,
        });
        let names: Vec<_> = exports.flatten().map(|export| export.unwrap().name).collect();
        assert_eq!(names.len(), 46, "{names:?}");
    }
}
