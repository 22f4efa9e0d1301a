//! Reads XML into a flat list of elements. Names are without their prefixes. Neither a document type nor
//! other entities than those of XML are followed; depth and number of elements are limited.

use quick_xml::{
    Reader, XmlVersion,
    escape::resolve_xml_entity,
    events::{BytesStart, Event},
};

/// How deep elements may be nested.
const DEEPEST: usize = 64;
/// How many elements a document may have.
const MOST_ELEMENTS: usize = 1_000_000;

/// A document: its elements, the root first. Each is followed by those within it.
#[derive(Debug, Default)]
pub struct Document {
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    name: String,
    attributes: Vec<(String, String)>,
    /// The text that is directly in the element.
    text: String,
    depth: usize,
}

/// One element of a document.
#[derive(Debug, Clone, Copy)]
pub struct Element<'d> {
    document: &'d Document,
    at: usize,
}

/// Reads a document. The error says what is wrong.
pub fn parse(bytes: &[u8]) -> Result<Document, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let mut reader = Reader::from_str(text);
    let mut document = Document::default();
    // The elements that are open, the innermost last.
    let mut open: Vec<usize> = Vec::new();
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        let innermost = open.last().copied();
        match event {
            Event::Start(ref start) => {
                open.push(document.add(start, &reader, open.len())?);
            }
            Event::Empty(ref start) => {
                document.add(start, &reader, open.len())?;
            }
            Event::End(_) => {
                open.pop();
            }
            Event::Text(ref text) => {
                let text = text.xml10_content().map_err(|error| error.to_string())?;
                document.write(innermost, &text);
            }
            Event::CData(ref text) => {
                let text = text.decode().map_err(|error| error.to_string())?;
                document.write(innermost, &text);
            }
            Event::GeneralRef(ref reference) => {
                let name = reference.decode().map_err(|error| error.to_string())?;
                let character = reference.resolve_char_ref().ok().flatten();
                match (character, resolve_xml_entity(&name)) {
                    (Some(character), _) => {
                        document.write(innermost, character.encode_utf8(&mut [0; 4]))
                    }
                    (None, Some(text)) => document.write(innermost, text),
                    // Names such as &nbsp; are those of HTML, and are resolved with the text's HTML.
                    (None, None) => document.write(innermost, &format!("&{name};")),
                }
            }
            Event::Eof if open.is_empty() && !document.nodes.is_empty() => return Ok(document),
            Event::Eof => return Err("the document ends within an element".to_owned()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

impl Document {
    /// Returns the outermost element.
    pub fn root(&self) -> Element<'_> {
        Element { document: self, at: 0 }
    }

    /// Adds an element, and returns its position.
    fn add(
        &mut self,
        start: &BytesStart<'_>,
        reader: &Reader<&[u8]>,
        depth: usize,
    ) -> Result<usize, String> {
        if depth >= DEEPEST {
            return Err("its elements are nested too deeply".to_owned());
        }
        if self.nodes.len() >= MOST_ELEMENTS {
            return Err("it has too many elements".to_owned());
        }
        if depth == 0 && !self.nodes.is_empty() {
            return Err("it has two outermost elements".to_owned());
        }
        let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let attributes = start.attributes().flatten().filter_map(|attribute| {
            let value = attribute
                .decoded_and_normalized_value(XmlVersion::Implicit1_0, reader.decoder())
                .ok()?;
            Some((name(attribute.key.local_name().as_ref()), value.into_owned()))
        });
        let node = Node {
            name: name(start.local_name().as_ref()),
            attributes: attributes.collect(),
            text: String::new(),
            depth,
        };
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    fn write(&mut self, at: Option<usize>, text: &str) {
        if let Some(node) = at.and_then(|at| self.nodes.get_mut(at)) {
            node.text.push_str(text);
        }
    }
}

impl<'d> Element<'d> {
    fn node(self) -> Option<&'d Node> {
        self.document.nodes.get(self.at)
    }

    pub fn name(self) -> &'d str {
        self.node().map_or("", |node| node.name.as_str())
    }

    /// Returns the text that is directly in the element, without white space around it.
    pub fn text(self) -> &'d str {
        self.node().map_or("", |node| node.text.trim())
    }

    pub fn attribute(self, name: &str) -> Option<&'d str> {
        let attributes = self.node().map(|node| node.attributes.iter()).into_iter().flatten();
        let mut named = attributes.filter(|(known, _)| known == name);
        named.next().map(|(_, value)| value.as_str())
    }

    /// Returns all elements within this one, in the document's order.
    pub fn within(self) -> impl Iterator<Item = Element<'d>> {
        let depth = self.node().map_or(0, |node| node.depth);
        let rest = self.document.nodes.get(self.at + 1..).unwrap_or_default();
        let inner = rest.iter().take_while(move |node| node.depth > depth);
        (self.at + 1..).zip(inner).map(move |(at, _)| Element { document: self.document, at })
    }

    /// Returns the elements directly within this one.
    pub fn children(self) -> impl Iterator<Item = Element<'d>> {
        let depth = self.node().map_or(0, |node| node.depth) + 1;
        self.within().filter(move |one| one.node().is_some_and(|node| node.depth == depth))
    }

    /// Returns the elements with this name directly within this one.
    pub fn named(self, name: &str) -> impl Iterator<Item = Element<'d>> {
        self.children().filter(move |one| one.name() == name)
    }

    /// Returns the first element at the end of this path of names.
    pub fn at(self, path: &[&str]) -> Option<Element<'d>> {
        path.iter().try_fold(self, |element, name| element.named(name).next())
    }

    /// Returns the text at the end of this path of names, if it is not empty.
    pub fn text_at(self, path: &[&str]) -> Option<&'d str> {
        self.at(path).map(Element::text).filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_by_their_names_without_prefixes() {
        let text = "<?xml version=\"1.0\"?><!-- x --><a:rss xmlns:a='urn:a'><channel n='1 &amp; 2'>\
            <title>A &amp; B&#233; &nbsp;<![CDATA[<p>c</p>]]></title><tt:city> Oslo </tt:city>\
            <empty/><title>second</title></channel></a:rss>";
        let document = parse(text.as_bytes()).unwrap();
        let root = document.root();
        assert_eq!(root.name(), "rss");
        let channel = root.at(&["channel"]).unwrap();
        assert_eq!(channel.attribute("n"), Some("1 & 2"));
        assert_eq!(channel.text_at(&["title"]), Some("A & Bé &nbsp;<p>c</p>"));
        assert_eq!(root.text_at(&["channel", "city"]), Some("Oslo"));
        assert_eq!(root.text_at(&["channel", "empty"]), None);
        assert_eq!(channel.named("title").count(), 2);
        assert_eq!(root.children().count(), 1);
        assert_eq!(root.within().count(), 5);
    }

    #[test]
    fn what_is_not_whole_or_too_deep_is_refused() {
        let deep = "<a>".repeat(100_000);
        let text = format!("{deep}{}", "</a>".repeat(100_000));
        for text in ["", "  ", "<a>", "<a></b>", "<a/><b/>", "{}", &text] {
            assert!(parse(text.as_bytes()).is_err(), "{}", &text[..text.len().min(20)]);
        }
        let bomb = "<!DOCTYPE a [<!ENTITY b \"bb\">]><a>&b;</a>";
        assert_eq!(parse(bomb.as_bytes()).unwrap().root().text(), "&b;");
    }
}
