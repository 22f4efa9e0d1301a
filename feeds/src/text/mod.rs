//! Cleans text that others wrote: the result is safe to show, has no contact data, and is limited in
//! length.

mod contact;
mod invisible;
mod packed;
mod phone;
mod simple;

pub use contact::{Contact, REMOVED, find, is_email_in, remove};
pub use invisible::{hidden_in, is_invisible, visible};
pub use packed::Packed;

use ammonia::{Builder, UrlRelative};
use percent_encoding::percent_decode_str;
use std::{borrow::Cow, sync::LazyLock};
use url::Url;

/// The elements that a description may contain.
const ELEMENTS: [&str; 18] = [
    "a",
    "b",
    "blockquote",
    "br",
    "code",
    "em",
    "h2",
    "h3",
    "h4",
    "hr",
    "i",
    "li",
    "ol",
    "p",
    "pre",
    "strong",
    "u",
    "ul",
];
/// The tags after which plain text begins a new line.
const BLOCKS: [&str; 11] = [
    "</p>",
    "<br>",
    "</li>",
    "</h2>",
    "</h3>",
    "</h4>",
    "</blockquote>",
    "</pre>",
    "</ul>",
    "</ol>",
    "<hr>",
];
/// How many bytes of a description are read.
const MOST_HTML: usize = 200_000;
/// How often HTML may have been escaped.
const ESCAPED: usize = 2;

static ALLOWED: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::empty();
    builder
        .tags(ELEMENTS.into())
        .tag_attributes([("a", ["href"].into())].into())
        .url_schemes(["https", "http"].into())
        .url_relative(UrlRelative::Deny)
        .clean_content_tags(["script", "style"].into())
        .attribute_filter(|_, _, address| link(address).map(Into::into))
        .link_rel(Some("nofollow noopener noreferrer"));
    builder
});

static NOTHING: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::empty();
    builder.clean_content_tags(["script", "style"].into());
    builder
});

/// A description as HTML and as plain text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    pub html: String,
    pub text: String,
}

/// Cleans HTML: keeps only allowed elements, and removes contact data and what nobody sees.
pub fn description(html: &str, most_text: usize) -> Description {
    let clean = ALLOWED.clean(beginning(html, MOST_HTML)).to_string();
    let clean = match visible(&clean) {
        Cow::Borrowed(_) => clean,
        Cow::Owned(visible) => visible,
    };
    let html = match without_contact(&clean) {
        // The result is sanitized once more, because the removal may have changed what is parsed as an element.
        Some(less) => visible(&ALLOWED.clean(&less).to_string()).into_owned(),
        None => clean,
    };
    let text = plain(&html);
    match remove(&text) {
        Cow::Borrowed(_) => Description { html, text: cut(&text, most_text) },
        // Contact data that is split by tags is left: the plain text replaces the HTML.
        Cow::Owned(text) => Description { html: paragraphs_of(&text), text: cut(&text, most_text) },
    }
}

/// Shortens a text without contact data. The end of a shortened text can look like contact data
/// although the whole one does not.
fn cut(text: &str, most: usize) -> String {
    match shortened(text, most) {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => remove(&text).into_owned(),
    }
}

fn paragraphs_of(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| format!("<p>{}</p>", escaped(line))).collect()
}

/// Returns contact data in a text of a document, which is HTML if it is a field with markup.
pub fn contact_in(text: &str, is_markup: bool) -> Option<(Contact, String)> {
    let text = match is_markup && text.contains('<') {
        true => Cow::Owned(plain(text)),
        false => Cow::Borrowed(text),
    };
    find(&text).map(|(kind, found)| (kind, found.to_owned()))
}

/// Cleans plain text, and returns it in both forms.
pub fn plain_description(text: &str, most_text: usize) -> Description {
    let text = paragraphs(beginning(text, MOST_HTML));
    description(&paragraphs_of(&text), most_text)
}

/// Returns the text of HTML, with a new line after each block.
pub fn plain(html: &str) -> String {
    if let Some(text) = simple::plain(html) {
        return paragraphs(&text);
    }
    let broken = BLOCKS
        .iter()
        .fold(html.to_owned(), |html, block| html.replace(block, &format!("{block}\n")));
    paragraphs(&unescaped(&broken))
}

/// Returns one line of text, without tags and contact data, of at most `most` characters.
pub fn line(text: &str, most: usize) -> String {
    let text = unescaped(beginning(text, MOST_HTML));
    let text = visible(&text).split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&remove(&text), most)
}

/// Returns the same as `line`; `None` if there is no text or the line is empty.
pub fn some_line(text: Option<&str>, most: usize) -> Option<String> {
    text.map(|text| line(text, most)).filter(|text| !text.is_empty())
}

/// Unescapes HTML that was escaped once or twice.
pub fn html_of_escaped(text: &str) -> String {
    let mut text = beginning(text, MOST_HTML).to_owned();
    for _ in 0..ESCAPED {
        let has_elements = text.contains('<');
        if has_elements || !(text.contains("&lt;") || text.contains("&amp;lt;")) {
            break;
        }
        text = unescaped(&text);
    }
    text
}

/// Returns a URL that a feed may contain: http or https, without user, password and e-mail
/// addresses, and not too long. Returns `None` for any other address. The name of a profile, as in
/// `/@name`, is no e-mail address.
pub fn link(address: &str) -> Option<String> {
    let url = Url::parse(address.trim()).ok()?;
    let plain = matches!(url.scheme(), "http" | "https") && url.has_host();
    let anonymous = url.username().is_empty() && url.password().is_none();
    let text = url.to_string();
    let has_email = text.contains(['@', '%'])
        && (is_email_in(&text) || is_email_in(&percent_decode_str(&text).decode_utf8_lossy()));
    (plain && anonymous && !has_email && text.len() <= 2_000).then_some(text)
}

/// Removes tags, and replaces entities with their characters, once.
fn unescaped(html: &str) -> String {
    if let Some(text) = simple::unescaped(html) {
        return text;
    }
    let text = NOTHING.clean(html).to_string();
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&quot;", "\""), ("&amp;", "&")];
    pairs.iter().fold(text, |text, (entity, character)| text.replace(entity, character))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Removes contact data between tags; `None` if there is none. In the sanitizer's output every `<` begins a tag.
fn without_contact(html: &str) -> Option<String> {
    let pieces = html.split_inclusive('>').flat_map(|part| {
        let at = part.find('<').unwrap_or(part.len());
        let (text, element) = part.split_at_checked(at).unwrap_or((part, ""));
        [remove(text), Cow::Borrowed(element)]
    });
    let pieces: Vec<Cow<'_, str>> = pieces.collect();
    pieces.iter().any(|piece| matches!(piece, Cow::Owned(_))).then(|| pieces.concat())
}

fn paragraphs(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    for line in visible(text).lines() {
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { continue };
        if !whole.is_empty() {
            whole.push('\n');
        }
        whole.push_str(first);
        for word in words {
            whole.push(' ');
            whole.push_str(word);
        }
    }
    whole
}

/// Shortens a text to at most `most` characters: cuts it after a word and adds an ellipsis.
fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let Some((cut, _)) = text.char_indices().nth(most) else { return Cow::Borrowed(text) };
    let room = text.char_indices().nth(most.saturating_sub(1)).map_or(cut, |(at, _)| at);
    let kept = text.get(..room).unwrap_or_default();
    let kept = kept.rsplit_once(char::is_whitespace).map_or(kept, |(before, _)| before);
    Cow::Owned(format!("{}…", kept.trim_end()))
}

/// Returns the first `most` bytes at most, cut between characters.
pub fn beginning(text: &str, most: usize) -> &str {
    let cut = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..cut).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*, sample::select};

    #[test]
    fn what_is_active_in_html_is_gone() {
        for hostile in [
            "<p>Good</p><script>steal()</script>",
            "<p onclick=steal()>Good</p><style>p{}</style>",
            "<p>Good<img src=x onerror=steal()></p>",
            "<p>Good</p><iframe src=//evil.example></iframe>",
            "<p>Good <a href='javascript:steal()'></a></p>",
            "<svg><script>steal()</script></svg><p>Good</p>",
            "<p>Good</p><form action=//evil.example><input name=p></form>",
            "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=steal()&gt;'></table></mtext></math><p>Good</p>",
        ] {
            let Description { html, text } = description(hostile, 100);
            for trace in ["steal", "script", "onerror", "onclick", "iframe", "img ", "evil"] {
                assert!(!html.contains(trace), "{hostile} → {html}");
            }
            assert!(text.contains("Good"), "{hostile} → {text}");
        }
    }

    #[test]
    fn contact_data_is_gone_also_across_elements_and_in_links() {
        let html = "<p>Mail <a href='mailto:jo@copper.example'>jo@copper.example</a> or call 415-<b>555</b>-0142</p>";
        let Description { html, text } = description(html, 400);
        assert_eq!((find(&html), find(&text)), (None, None), "{html} {text}");
        assert!(!html.contains("mailto"));
    }

    #[test]
    fn what_nobody_sees_is_gone_from_html_and_hides_no_contact_data() {
        let html = "<p>\u{202e}txet\u{202c} Ask jo\u{fe0f}@copper.example, 415\u{fe0f}-555\u{fe0f}-0142&#x200b; or j&#x61c;o\u{e0020}@copper.example\u{e0041}\u{e0042}</p>";
        let Description { html, text } = description(html, 400);
        assert_eq!((hidden_in(&html), hidden_in(&text)), (None, None), "{html:?}");
        assert_eq!(text, "txet Ask [removed], [removed] or [removed]");
        assert_eq!(line("jo@\u{34f}copper.example", 80), REMOVED);
    }

    #[test]
    fn html_escaped_once_or_twice_is_html_again() {
        for escaped in [
            "<p>A &amp; B</p>",
            "&lt;p&gt;A &amp;amp; B&lt;/p&gt;",
            "&amp;lt;p&amp;gt;A &amp;amp;amp; B&amp;lt;/p&amp;gt;",
        ] {
            assert_eq!(description(&html_of_escaped(escaped), 100).text, "A & B", "{escaped}");
        }
    }

    #[test]
    fn blocks_become_lines_and_long_text_ends_at_a_word() {
        let html = "<h2>Role</h2><ul><li>One</li><li>Two&nbsp;three</li></ul>x<br>y";
        assert_eq!(plain(html), "Role\nOne\nTwo three\nx\ny");
        assert_eq!(line("one  two\tthree", 9), "one two…");
        assert_eq!(line("<b>one</b> \u{202e}two\u{200b}", 9), "one two");
        assert_eq!(shortened("été", 3), "été");
    }

    #[test]
    fn links_are_plain_addresses() {
        assert_eq!(link(" https://copper.example/a ").as_deref(), Some("https://copper.example/a"));
        for address in [
            "javascript:x()",
            "mailto:a@b.example",
            "https://jo@copper.example/",
            "/jobs",
            "ftp://a.example",
            "https://a.example/?to=jo@b.example",
            "https://a.example/?to=jo%40b.example",
        ] {
            assert_eq!(link(address), None, "{address}");
        }
        for address in ["https://social.example/@copperleaf/1140", "https://a.example/100%25"] {
            assert_eq!(link(address).as_deref(), Some(address));
        }
    }

    #[test]
    fn contact_data_far_back_in_a_long_text_is_gone() {
        let html = format!(
            "<p>{}</p><p>You get an <strong>@amplitude.example</strong> address, as jo <b>@copperleaf.example</b> has.</p>",
            "Build and run. ".repeat(400)
        );
        let Description { html, text } = description(&html, 4_000);
        assert_eq!(contact_in(&html, true), None);
        assert_eq!(find(&text), None);
    }

    proptest! {
        /// What is removed by one function is not found by the other, in any text.
        #[test]
        fn cleaned_text_has_no_contact_data(
            parts in vec(select(&[
                "jo", "@", " (at) ", "copperleaf.example", "<b>", "</b>", "<p>", "+1 415 555 0142",
                "0142", "-", " ", "12 Main Street", "Place", ", Apt 4", "&lt;", "&#64;", "[removed]",
                "…", "\u{200b}", ". ", "x", " dot ", " at ", "\u{fe0f}", "\u{34f}", "\u{e0041}", "\u{202e}", "030 1234567",
                "é", "<i>", "</i>", "&nbsp;",
            ][..]), 0..40),
            most in 1_usize..60,
        ) {
            let text = parts.concat();
            let shown = line(&text, most);
            prop_assert_eq!(find(&shown), None);
            for Description { html, text } in [description(&text, most), plain_description(&text, most)] {
                prop_assert_eq!(contact_in(&html, true), None);
                prop_assert_eq!(find(&text), None);
                prop_assert_eq!((hidden_in(&html), hidden_in(&text)), (None, None));
            }
        }
    }
}
