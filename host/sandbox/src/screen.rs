//! Checks a component's imports and exports before it is compiled, which can take minutes.

use crate::{
    imports::{Import, ImportKind},
    prepare::PrepareError,
};
use wasmparser::{Chunk, ComponentTypeRef, Parser, Payload};

/// The functions that every component exports.
pub const EXPORTS: [&str; 2] = ["describe", "call"];

/// Refuses a component that imports what this host does not offer, or lacks an export of the contract. A
/// component that cannot be parsed is not refused: the compiler says what is wrong with it.
pub fn screen(component: &[u8]) -> Result<(), PrepareError> {
    let Some(Surface { imports, exports }) = surface(component) else { return Ok(()) };
    let imports = imports.into_iter().map(|name| Import::new(&name));
    let unknown: Vec<_> = imports.filter(|import| import.kind == ImportKind::Unknown).collect();
    if !unknown.is_empty() {
        return Err(PrepareError::UnknownImports(unknown));
    }
    match EXPORTS.iter().find(|name| !exports.iter().any(|export| export == *name)) {
        Some(name) => Err(PrepareError::Contract(format!("no export `{name}` found"))),
        None => Ok(()),
    }
}

/// The names of what a component imports and exports.
#[derive(Default)]
struct Surface {
    imports: Vec<String>,
    exports: Vec<String>,
}

/// Reads the component's own sections, and skips those of the modules and components in it. Returns `None`
/// if the component cannot be parsed.
fn surface(component: &[u8]) -> Option<Surface> {
    let mut surface = Surface::default();
    let (mut parser, mut rest) = (Parser::new(0), component);
    loop {
        let Chunk::Parsed { consumed, payload } = parser.parse(rest, true).ok()? else {
            return None;
        };
        rest = rest.get(consumed..)?;
        match payload {
            Payload::ComponentImportSection(imports) => {
                for import in imports {
                    let import = import.ok()?;
                    // An imported type only gives a type of the contract's interfaces another name.
                    if !matches!(import.ty, ComponentTypeRef::Type(_)) {
                        surface.imports.push(import.name.name.to_owned());
                    }
                }
            }
            Payload::ComponentExportSection(exports) => {
                for export in exports {
                    surface.exports.push(export.ok()?.name.name.to_owned());
                }
            }
            Payload::ModuleSection { unchecked_range: range, .. }
            | Payload::ComponentSection { unchecked_range: range, .. } => {
                rest = rest.get(usize::try_from(range.end - range.start).ok()?..)?;
            }
            Payload::End(_) => return Some(surface),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPORTED: &str = r#"
        (core module $m (func (export "f")))
        (core instance $i (instantiate $m))
        (func $f (canon lift (core func $i "f")))
        (export "describe" (func $f))
        (export "call" (func $f))"#;

    fn screened(text: &str) -> Result<(), String> {
        let component = wat::parse_str(text).unwrap();
        screen(&component).map_err(|error| error.to_string())
    }

    #[test]
    fn every_unknown_import_is_named() {
        let text = format!(
            r#"(component
                (import "wasi:http/types@0.2.6" (instance))
                (import "wasi:cli/stdout@0.2.6" (instance))
                (type $text string)
                (import "json" (type (eq $text)))
                (component (import "acme:inner/thing@1.0.0" (instance)))
                (import "acme:thing/stuff@1.0.0" (instance))
                {EXPORTED})"#
        );
        let refused = screened(&text).unwrap_err();
        assert_eq!(
            refused,
            "imports wasi:http/types@0.2.6, acme:thing/stuff@1.0.0 which this host does not offer"
        );
    }

    #[test]
    fn both_exports_are_needed() {
        assert_eq!(screened(&format!("(component {EXPORTED})")), Ok(()));
        let without_call = EXPORTED.lines().filter(|line| !line.contains("\"call\""));
        let text = format!("(component {})", without_call.collect::<Vec<_>>().join("\n"));
        let refused = screened(&text).unwrap_err();
        assert_eq!(refused, "does not fit the contract: no export `call` found");
    }

    #[test]
    fn an_unparsable_component_is_left_to_the_compiler() {
        let component = wat::parse_str(format!("(component {EXPORTED})")).unwrap();
        for end in 8..component.len() {
            // A cut between two sections gives a component that lacks exports.
            let cut = screen(&component[..end]);
            assert!(cut.is_ok() || matches!(cut, Err(PrepareError::Contract(_))), "{end}");
        }
        assert!(screen(b"nonsense").is_ok());
    }
}
