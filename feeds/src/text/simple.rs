//! Reads simple HTML without a parser: the sanitizer's output, and text in which nothing but the usual entities
//! is written. Anything else is left to the parser.

use super::{BLOCKS, ELEMENTS};

/// The entities that the sanitizer writes, and what they stand for.
const ENTITIES: [(&str, char); 5] =
    [("lt;", '<'), ("gt;", '>'), ("nbsp;", ' '), ("quot;", '"'), ("amp;", '&')];
/// Adds a text whose entities are read; returns `None` if it has other ones.
fn read(text: &str, into: &mut String) -> Option<()> {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        into.push_str(before);
        let (entity, character) = ENTITIES.iter().find(|(name, _)| after.starts_with(name))?;
        into.push(*character);
        rest = after.get(entity.len()..)?;
    }
    into.push_str(rest);
    Some(())
}

fn is_simple(text: &str) -> bool {
    !text.bytes().any(|byte| matches!(byte, 0 | b'\r')) && !text.contains('\u{a0}')
}

/// Returns a text without tags, whose entities are read once.
pub(super) fn unescaped(text: &str) -> Option<String> {
    if text.contains('<') || !is_simple(text) {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    read(text, &mut plain)?;
    Some(plain)
}

/// Returns the text of HTML that has only the tags of the sanitizer, with a new line after each block.
pub(super) fn plain(html: &str) -> Option<String> {
    // A parser leaves out the first line break of preformatted text.
    if !is_simple(html) || html.contains("<pre>\n") {
        return None;
    }
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('<') {
        read(before, &mut text)?;
        let (tag, behind) = after.split_once('>')?;
        let name = tag.split(' ').next().unwrap_or_default();
        if !ELEMENTS.contains(&name.strip_prefix('/').unwrap_or(name)) || tag.contains('<') {
            return None;
        }
        if BLOCKS.iter().any(|block| block.trim_matches(['<', '>']) == tag) {
            text.push('\n');
        }
        // What stands in quotes could have the end of the tag.
        if tag.matches('"').count() % 2 == 1 || tag.contains('\'') {
            return None;
        }
        rest = behind;
    }
    read(rest, &mut text)?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::super::{ALLOWED, BLOCKS, NOTHING};
    use proptest::{collection::vec, prelude::*, sample::select};

    /// What the parser makes of a text, as it was read before.
    fn parsed(html: &str) -> String {
        let text = NOTHING.clean(html).to_string();
        let pairs =
            [("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&quot;", "\""), ("&amp;", "&")];
        pairs.iter().fold(text, |text, (entity, character)| text.replace(entity, character))
    }

    fn broken(html: &str) -> String {
        let broken = BLOCKS
            .iter()
            .fold(html.to_owned(), |html, block| html.replace(block, &format!("{block}\n")));
        parsed(&broken)
    }

    fn words(text: &str) -> Vec<Vec<&str>> {
        let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines.filter(|line| !line.is_empty()).collect()
    }

    #[test]
    fn most_descriptions_need_no_parser() {
        let html = ALLOWED.clean("<h2>A &amp; B</h2><p>Build <b>it</b>, see <a href='https://a.example/?b=1&c=2'>here</a>.</p>").to_string();
        assert_eq!(super::plain(&html).unwrap().trim_end(), "A & B\nBuild it, see here.");
        assert_eq!(super::unescaped("A &lt;b&gt; &amp;amp;").unwrap(), "A <b> &amp;");
        for other in [
            "<script>x</script>",
            "a < b",
            "&#64;",
            "&commat;",
            "<p",
            "<!-- -->",
            "<p title=\"a>b\">",
        ] {
            assert_eq!(super::plain(other), None, "{other}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn the_result_is_that_of_the_parser(parts in vec(select(&[
            "jo", "@", "<b>", "</b>", "<p>", "</p>", "<br>", "<li>", "</li>", "<ul>", "</ul>", "<pre>", "</pre>", "<a href='https://a.example/\"?q=>&amp;'>",
            "</a>", "&lt;", "&gt;", "&amp;", "&quot;", "&nbsp;", "&#64;", "<", ">", " ", "\n", "é", "&", ";", "<h2>", "</h2>", "<hr>", "\u{a0}",
        ][..]), 0..24)) {
            let text = parts.concat();
            let clean = ALLOWED.clean(&text).to_string();
            if let Some(read) = super::plain(&clean) {
                let expected = broken(&clean);
                prop_assert_eq!(words(&read), words(&expected), "{}", clean);
            }
            if let Some(read) = super::unescaped(&text) {
                let expected = parsed(&text);
                prop_assert_eq!(words(&read), words(&expected), "{}", text);
            }
        }
    }
}
