//! Converts answers to UTF-8. A byte order mark counts first, then the bytes of UTF-16, then the header
//! `Content-Type`, then what the document declares about itself (RFC 7303, section 3; the HTML Standard).

use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// How far into a document its declaration is looked for.
const DECLARED_WITHIN: usize = 1024;

static IN_HEADER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i-u)charset\s*=\s*["']?([\w.:-]+)"#).ok());
static IN_DOCUMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i-u)^\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)["']|<meta[^>]*?charset\s*=\s*["']?([\w.:-]+)"#,
    )
    .ok()
});
/// An XML declaration up to its encoding, and the encoding.
static XML_ENCODING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i-u)^(\s*<\?xml[^>]*?)\s+encoding\s*=\s*["'][\w.:-]+["']"#).ok()
});

/// Returns the text of an answer in UTF-8, without a byte order mark, and without a declaration of another
/// encoding. Bytes that no character has are replaced.
pub fn utf_8(bytes: Vec<u8>, content_type: Option<&str>) -> Vec<u8> {
    let (encoding, skipped) = encoding(&bytes, content_type);
    let rest = bytes.get(skipped..).unwrap_or_default();
    let text = match encoding == UTF_8 && skipped == 0 {
        true => bytes,
        false if encoding == UTF_8 => rest.to_vec(),
        false => encoding.decode_without_bom_handling(rest).0.into_owned().into_bytes(),
    };
    match XML_ENCODING.as_ref().filter(|_| text.trim_ascii_start().starts_with(b"<?xml")) {
        Some(pattern) => pattern.replace(&text, &b"$1"[..]).into_owned(),
        None => text,
    }
}

/// Returns the encoding, and the length of the byte order mark.
fn encoding(bytes: &[u8], content_type: Option<&str>) -> (&'static Encoding, usize) {
    if let Some(marked) = Encoding::for_bom(bytes) {
        return marked;
    }
    // The first characters of XML and JSON are ASCII.
    match bytes {
        [0, first, 0, second, ..] if *first != 0 && *second != 0 => return (UTF_16BE, 0),
        [first, 0, second, 0, ..] if *first != 0 && *second != 0 => return (UTF_16LE, 0),
        _ => {}
    }
    let beginning = bytes.get(..DECLARED_WITHIN).unwrap_or(bytes);
    let label = content_type
        .and_then(|text| label(IN_HEADER.as_ref(), text.as_bytes()))
        .or_else(|| label(IN_DOCUMENT.as_ref(), beginning));
    // What is valid UTF-8 is hardly ever anything else, whatever a label says; except for an encoding
    // that consists of ASCII bytes.
    match label {
        Some(label) if label == ISO_2022_JP => (label, 0),
        _ if std::str::from_utf8(bytes).is_ok() => (UTF_8, 0),
        // Without zeros it is not UTF-16, whatever it is called.
        Some(label) if label != UTF_8 && label != UTF_16BE && label != UTF_16LE => (label, 0),
        _ => (WINDOWS_1252, 0),
    }
}

fn label(pattern: Option<&Regex>, bytes: &[u8]) -> Option<&'static Encoding> {
    let captures = pattern?.captures(bytes)?;
    let found = captures.iter().skip(1).flatten().next()?;
    Encoding::for_label(found.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{EUC_JP, GBK, ISO_8859_15, KOI8_R, SHIFT_JIS, WINDOWS_1251};
    use proptest::prelude::*;

    fn read(bytes: &[u8], content_type: Option<&str>) -> String {
        String::from_utf8(utf_8(bytes.to_vec(), content_type)).unwrap()
    }

    #[test]
    fn the_header_the_declaration_and_the_mark_are_followed() {
        let text = "<?xml version=\"1.0\"?><title>Café – 東京</title>";
        for encoding in [SHIFT_JIS, EUC_JP, GBK, WINDOWS_1252, WINDOWS_1251, KOI8_R, ISO_8859_15] {
            let sample = match encoding.name() {
                "windows-1252" | "ISO-8859-15" => "<title>Café</title>",
                "windows-1251" | "KOI8-R" => "<title>Москва и область</title>",
                _ => "<title>東京の会社</title>",
            };
            let (bytes, _, lossy) = encoding.encode(sample);
            assert!(!lossy, "{}", encoding.name());
            let header = format!("text/xml; charset=\"{}\"", encoding.name());
            assert_eq!(read(&bytes, Some(&header)), sample, "{header}");
            let name = encoding.name();
            let declared = format!("<?xml version='1.0' encoding='{name}' standalone='yes'?>");
            let document = [declared.as_bytes(), &bytes].concat();
            let plain = format!("<?xml version='1.0' standalone='yes'?>{sample}");
            assert_eq!(read(&document, Some("text/xml")), plain);
            let page = format!("<html><meta charset={name}>");
            let document = [page.as_bytes(), &bytes].concat();
            assert_eq!(read(&document, Some("text/html")), format!("{page}{sample}"));
        }
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [little.as_slice(), &big] {
            assert_eq!(read(bytes, None), text);
        }
        assert_eq!(read(&[b"\xff\xfe".as_slice(), &little].concat(), None), text);
        assert_eq!(read(&[b"\xfe\xff".as_slice(), &big].concat(), Some("a/b")), text);
        assert_eq!(read(b"\xef\xbb\xbf{}", None), "{}");
    }

    #[test]
    fn what_is_utf_8_stays_whatever_it_is_called() {
        let text = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>Café</a>";
        let read = read(text.as_bytes(), Some("text/xml; charset=windows-1252"));
        assert_eq!(read, "<?xml version=\"1.0\"?><a>Café</a>");
    }

    #[test]
    fn bytes_without_any_label_are_read_as_browsers_do() {
        assert_eq!(read(b"Caf\xe9 \x80 5", None), "Café € 5");
        assert_eq!(read(b"Caf\xe9", Some("text/xml; charset=nonsense")), "Café");
        assert_eq!(read(b"Caf\xe9", Some("text/xml; charset=utf-16")), "Café");
    }

    proptest! {
        #[test]
        fn any_bytes_become_text(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            header in proptest::option::of("[a-z/;= \"']{0,12}charset=[a-zA-Z0-9_-]{0,12}"),
        ) {
            prop_assert!(String::from_utf8(utf_8(bytes, header.as_deref())).is_ok());
        }
    }
}
