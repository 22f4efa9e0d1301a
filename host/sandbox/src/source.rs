//! Capabilities that are a source: the engine that runs it, and its text.
//!
//! Such a component is the component of an engine with a custom section `portolan-source` behind it. The
//! section's content is the name of the source's file, a line feed and the text. Only custom sections, such as
//! those of a signature, may follow. All components with the same engine share its artifact.

use portolan_vocabulary::Digest;
use std::sync::Arc;
use wasm_encoder::{CustomSection, Encode as _};
use wasmparser::{Chunk, Parser, Payload};

const SECTION: &str = "portolan-source";

/// The source of a capability.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The name of its file.
    pub(super) name: String,
    pub(super) text: String,
}

/// The parts of a component: code, and the source that it runs if it is an engine.
#[derive(Debug)]
pub struct Program<'a> {
    /// The code that is compiled: the component without its source.
    pub(super) code: &'a [u8],
    /// The digest of the code, which names its artifact.
    pub(super) digest: Digest,
    pub(super) source: Option<Arc<Source>>,
}

impl<'a> Program<'a> {
    /// `digest` is that of the whole component.
    pub fn new(component: &'a [u8], digest: Digest) -> Self {
        match split_source(component) {
            Some((code, source)) => {
                Self { code, digest: Digest::of(code), source: Some(Arc::new(source)) }
            }
            None => Self { code: component, digest, source: None },
        }
    }

    /// Returns the source that the code runs, if it is an engine.
    pub fn source(&self) -> Option<Arc<Source>> {
        self.source.clone()
    }
}

/// Returns the component of a source: the engine's with the source behind it. `name` is one line.
pub fn with_source(engine: &[u8], name: &str, text: &str) -> Vec<u8> {
    let mut component = engine.to_vec();
    let content = format!("{name}\n{text}");
    let section = CustomSection { name: SECTION.into(), data: content.as_bytes().into() };
    component.push(0);
    section.encode(&mut component);
    component
}

/// Returns the code and the source of a component; `None` if it has no source.
fn split_source(component: &[u8]) -> Option<(&[u8], Source)> {
    let (mut parser, mut at) = (Parser::new(0), 0);
    let mut found = None;
    loop {
        let start = at;
        let Chunk::Parsed { consumed, payload } = parser.parse(component.get(at..)?, true).ok()?
        else {
            return None;
        };
        at += consumed;
        match payload {
            Payload::CustomSection(section) if section.name() == SECTION && found.is_none() => {
                let content = std::str::from_utf8(section.data()).ok()?;
                let (name, text) = content.split_once('\n')?;
                let source = Source { name: name.to_owned(), text: text.to_owned() };
                found = Some((component.get(..start)?, source));
            }
            Payload::CustomSection(_) => {}
            Payload::End(_) => return found,
            // Code behind the source would not be compiled.
            _ if found.is_some() => return None,
            Payload::ModuleSection { unchecked_range: range, .. }
            | Payload::ComponentSection { unchecked_range: range, .. } => {
                at += usize::try_from(range.end - range.start).ok()?;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine() -> Vec<u8> {
        wat::parse_str(
            r#"(component (core module) (component) (type $t string) (import "t" (type (eq $t))))"#,
        )
        .unwrap()
    }

    #[test]
    fn a_source_is_read_from_behind_its_engine() {
        let engine = engine();
        assert_eq!(split_source(&engine), None);
        let component = with_source(&engine, "greeter.js", "first\nsecond\n");
        let source = Source { name: "greeter.js".to_owned(), text: "first\nsecond\n".to_owned() };
        assert_eq!(split_source(&component), Some((&*engine, source)));
        let program = Program::new(&component, Digest::of(&component));
        assert_eq!(program.digest, Digest::of(&engine));
    }

    #[test]
    fn only_custom_sections_follow_a_source() {
        let component = with_source(&engine(), "a.js", "");
        let custom = [0, 5, 4, b'n', b'o', b't', b'e'];
        assert!(split_source(&[&component[..], &custom].concat()).is_some());
        let code = &engine()[8..];
        assert_eq!(split_source(&[&component[..], code].concat()), None);
        for end in 0..component.len() {
            assert_eq!(split_source(&component[..end]), None, "{end}");
        }
    }
}
