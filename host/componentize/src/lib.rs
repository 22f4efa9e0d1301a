//! Makes a component of a core WebAssembly module that a compiler has written for the contract.
//!
//! The module contains the contract's types in a custom section, as `wit-bindgen` writes it. The build of
//! this project and `portolan componentize` use the same function.
//!
//! Invariant: the component imports only what the module uses.

use wit_component::ComponentEncoder;

/// The first eight bytes of a core module.
const CORE_MODULE: &[u8] = b"\0asm\x01\0\0\0";
/// The first eight bytes of a component.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// The reason why a file cannot be made a component.
#[derive(Debug, thiserror::Error)]
pub enum ComponentizeError {
    #[error("it is a component already")]
    Component,
    #[error("it is not a core WebAssembly module")]
    NotAModule,
    #[error("it does not fit the contract: {0}")]
    Contract(String),
}

/// Makes a component of a core module with the contract's type sections, without unused imports.
pub fn componentize(module: &[u8]) -> Result<Vec<u8>, ComponentizeError> {
    if module.starts_with(COMPONENT) {
        return Err(ComponentizeError::Component);
    }
    if !module.starts_with(CORE_MODULE) {
        return Err(ComponentizeError::NotAModule);
    }
    let mut encoder = ComponentEncoder::default();
    let encoded = encoder.module(module).and_then(|encoder| encoder.validate(true).encode());
    encoded.map_err(|error| ComponentizeError::Contract(format!("{error:#}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        componentize(&wat::parse_str(text).unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn only_a_module_for_the_contract_becomes_a_component() {
        assert_eq!(refused("(component)"), "it is a component already");
        let unknown = refused(r#"(module (import "env" "print" (func)))"#);
        assert!(unknown.contains("does not fit") && unknown.contains("env"), "{unknown}");
        let error = componentize(b"fn main() {}").unwrap_err().to_string();
        assert_eq!(error, "it is not a core WebAssembly module");
    }
}
