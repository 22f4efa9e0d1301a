//! Makes a component of a core WebAssembly module that a compiler has written for the contract.
//!
//! - `outline`: what a module imports and exports
//! - `contract`: the contract's types, for modules without them
//! - `preview1`: WASI 0.1, for modules that import it
//! - `error`: why a file cannot be made a component
//!
//! The build of this project and `portolan componentize` both use [`componentize`].
//!
//! Invariant: the component imports only what the module uses.

mod contract;
mod error;
mod outline;
mod preview1;

pub use error::ComponentizeError;

use error::contract_error;
use outline::Outline;
use wit_component::ComponentEncoder;

/// The first eight bytes of a core module.
const CORE_MODULE: &[u8] = b"\0asm\x01\0\0\0";
/// The first eight bytes of a component.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// Makes a component of a core module, without unused imports. The contract's types are those of the module's
/// custom section, as `wit-bindgen` writes it, or else those of this version of the contract.
pub fn componentize(module: &[u8]) -> Result<Vec<u8>, ComponentizeError> {
    if module.starts_with(COMPONENT) {
        return Err(ComponentizeError::Component);
    }
    if !module.starts_with(CORE_MODULE) {
        return Err(ComponentizeError::NotAModule);
    }
    let outline = Outline::read(module).ok_or(ComponentizeError::Damaged)?;
    outline.ensure_valid()?;
    let mut module = module.to_vec();
    if !outline.has_types {
        contract::embed(&mut module)?;
    }
    let mut encoder = ComponentEncoder::default();
    encoder.validate(true).module(&module).map_err(contract_error)?;
    if outline.imports_preview1() {
        encoder.adapter(preview1::MODULE, &preview1::adapter()?).map_err(contract_error)?;
    }
    encoder.encode().map_err(contract_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(text: &str) -> Result<Vec<u8>, String> {
        componentize(&wat::parse_str(text).unwrap()).map_err(|error| error.to_string())
    }

    fn error_of(text: &str) -> String {
        build(text).unwrap_err()
    }

    /// A module with the exports of a capability and more.
    fn capability(more: &str) -> String {
        format!(
            r#"(module {more} (memory (export "memory") 1)
                (func (export "describe") (result i32) i32.const 16)
                (func (export "call") (param i32) (result i32) i32.const 16)
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024))"#
        )
    }

    /// The names that a component imports.
    fn imports(component: &[u8]) -> Vec<String> {
        let payloads = wasmparser::Parser::new(0).parse_all(component);
        let sections = payloads.filter_map(|payload| match payload.unwrap() {
            wasmparser::Payload::ComponentImportSection(section) => Some(section),
            _ => None,
        });
        let names = sections.flatten().map(|import| import.unwrap().name.name.to_owned());
        // Without the types of the world, which have no package.
        names.filter(|name| name.contains(':')).collect()
    }

    #[test]
    fn only_a_module_for_the_contract_becomes_a_component() {
        assert_eq!(error_of("(component)"), "it is a component already");
        let unknown = error_of(r#"(module (import "env" "print" (func)))"#);
        assert!(unknown.contains("imports `print` of `env`"), "{unknown}");
        let error = componentize(b"fn main() {}").unwrap_err().to_string();
        assert_eq!(error, "it is not a core WebAssembly module");
        let truncated = wat::parse_str(capability("")).unwrap();
        let error = componentize(&truncated[..truncated.len() - 3]).unwrap_err().to_string();
        assert_eq!(error, "it is damaged or cut short; build it again");
        let missing = error_of(r#"(module (func (export "describe") (result i32) i32.const 16))"#);
        assert!(missing.starts_with("it exports no `call`"), "{missing}");
        let wrong = capability("").replace(r#""call") (param i32)"#, r#""call") (param i64)"#);
        let wrong = error_of(&wrong);
        assert!(wrong.contains("does not fit the contract") && wrong.contains("call"), "{wrong}");
    }

    #[test]
    fn a_module_without_types_gets_those_of_the_contract() {
        let component = build(&capability("")).unwrap();
        assert!(component.starts_with(COMPONENT));
        let imported = imports(&component);
        assert!(
            imported
                .iter()
                .all(|name| name.ends_with("types@2.0.0") || name.ends_with("description@2.0.0")),
            "{imported:?}"
        );
        let now = r#"(import "portolan:capability/context@2.0.0" "now" (func (result i64)))"#;
        let imported = imports(&build(&capability(now)).unwrap());
        assert!(imported.contains(&"portolan:capability/context@2.0.0".to_owned()), "{imported:?}");
    }

    #[test]
    fn the_adapter_imports_only_what_is_used() {
        let random =
            r#"(import "wasi_snapshot_preview1" "random_get" (func (param i32 i32) (result i32)))"#;
        let imported = imports(&build(&capability(random)).unwrap());
        let wasi: Vec<_> = imported.iter().filter(|name| name.starts_with("wasi:")).collect();
        assert_eq!(wasi, ["wasi:random/random@0.2.0"]);
        let unknown = random.replace("random_get", "random_set");
        let unknown = error_of(&capability(&unknown));
        assert!(unknown.contains("random_set"), "{unknown}");
    }
}
