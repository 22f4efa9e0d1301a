//! The imports and exports of a core module.

use crate::{error::ComponentizeError, preview1};
use wasmparser::{Parser, Payload};

/// The exports without which a module is no capability.
const REQUIRED: [&str; 3] = ["describe", "call", "memory"];
/// The beginning of the name of the custom section with the contract's types.
const TYPES: &str = "component-type";

#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// The module and the name of each import.
    imports: Vec<(String, String)>,
    exports: Vec<String>,
    /// Whether the module has a custom section with the contract's types.
    pub(crate) has_types: bool,
}

impl Outline {
    /// Returns `None` if the module cannot be parsed.
    pub(crate) fn read(module: &[u8]) -> Option<Self> {
        let mut outline = Self::default();
        for payload in Parser::new(0).parse_all(module) {
            match payload.ok()? {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import.ok()?;
                        outline.imports.push((import.module.to_owned(), import.name.to_owned()));
                    }
                }
                Payload::ExportSection(section) => {
                    for export in section {
                        outline.exports.push(export.ok()?.name.to_owned());
                    }
                }
                Payload::CustomSection(section) => {
                    outline.has_types |= section.name().starts_with(TYPES);
                }
                _ => {}
            }
        }
        Some(outline)
    }

    /// Ensures that the exports in [`REQUIRED`] exist, and that each import's module is named like one of the
    /// contract or of WASI.
    pub(crate) fn ensure_valid(&self) -> Result<(), ComponentizeError> {
        // The names of interfaces contain a colon. `wit-bindgen` writes `$root` and names in brackets.
        let is_known = |module: &str| {
            module == preview1::MODULE || module.contains(':') || module.starts_with(['$', '['])
        };
        if let Some((module, function)) = self.imports.iter().find(|(module, _)| !is_known(module))
        {
            let (module, function) = (module.clone(), function.clone());
            return Err(ComponentizeError::UnknownImport { module, function });
        }
        let is_missing = |name: &&str| !self.exports.iter().any(|export| export == name);
        match REQUIRED.into_iter().find(is_missing) {
            Some(name) => Err(ComponentizeError::NoExport(name)),
            None => Ok(()),
        }
    }

    pub(crate) fn imports_preview1(&self) -> bool {
        self.imports.iter().any(|(module, _)| module == preview1::MODULE)
    }
}
