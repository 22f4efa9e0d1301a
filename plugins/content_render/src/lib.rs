//! Shows how CommonMark will look to other people, and what is removed from it.

mod intents;

use content::{NoSuchPage, find};
use markup::{Format, Link, Profile, Removed, Rendered, render};
use portolan_sdk::prelude::*;

/// The maximum size of a text in bytes. Rendering time depends on bytes, and a schema's `maxLength`
/// counts characters.
const LARGEST: usize = 64 * 1024;

#[input]
struct Render {
    /// The text to render, CommonMark in UTF-8, at most 65,536 bytes. Give either this or `slug`.
    #[schemars(length(max = 65536))]
    markdown: Option<String>,
    /// A page of `content_get` to render instead. Give either this or `markdown`.
    #[schemars(length(min = 1, max = 80))]
    slug: Option<String>,
    /// `html` for a fragment that is safe to put into a page; `text` for plain text, which is not
    /// HTML and has to be escaped there.
    format: Format,
    /// Where the text will be shown. It decides what is allowed: `listing` for a listing's
    /// description, `message` for a message from one person to another, `page` for documentation.
    #[serde(default = "page")]
    profile: Profile,
}

fn page() -> Profile {
    Profile::Page
}

/// The text as others will see it.
#[output]
struct Preview {
    /// With the format `html`: a fragment of allowed elements only, whose links carry
    /// `rel="nofollow noopener ugc"`.
    html: Option<String>,
    /// With the format `text`: the plain text.
    text: Option<String>,
    /// The removed parts, with counts; empty if the text is shown as it was written.
    removed: Vec<Removed>,
    /// The links in the result, in order.
    links: Vec<Link>,
    /// The number of words in the text.
    words: usize,
}

pub struct ContentRender;

/// Renders CommonMark exactly as other people will see it, and lists what is removed.
///
/// Use it before you create a listing or send a longer message. Raw HTML is always removed. Links
/// lead to http, https or mailto, and relative ones are removed. Images stay only in pages, over
/// https. In a listing, headings are lowered by two levels, because they are below the listing's
/// title; in a message they become paragraphs. Nothing is stored.
#[capability(
    id = "content_render",
    title = "Preview of formatted text",
    tags = ["content", "markdown"],
    default_action = "render"
)]
impl ContentRender {
    /// Render CommonMark safely.
    ///
    /// Returns the HTML or plain text, the removed parts (`removed`), the remaining links (`links`)
    /// and the number of words. Give exactly one of `markdown` and `slug`.
    #[action(
        access = read,
        idempotent,
        example = json!({
            "markdown": "## Sunny room\n\nQuiet street, **two stops** from downtown.",
            "format": "html", "profile": "listing",
        }),
        example = json!({ "slug": "about", "format": "text", "profile": "page" }),
        intents = intents::RENDER
    )]
    fn render(_call: &Call, input: Render) -> Result<Preview, NoSuchPage> {
        preview(input)
    }
}

fn preview(input: Render) -> Result<Preview, NoSuchPage> {
    match (&input.markdown, &input.slug) {
        (Some(markdown), None) if markdown.len() > LARGEST => {
            Err(Refusal::validation("/markdown", "maxBytes", LARGEST).into())
        }
        (Some(markdown), None) => Ok(written(markdown, input.profile, input.format)),
        (None, Some(slug)) if input.profile == Profile::Page => {
            Ok(made_before(find(slug)?, input.format))
        }
        (None, Some(slug)) => Ok(written(find(slug)?.markdown, input.profile, input.format)),
        _ => Err(Refusal::validation("", "oneOf", "exactly one of markdown and slug").into()),
    }
}

fn written(markdown: &str, profile: Profile, format: Format) -> Preview {
    let Rendered { body, links, removed, words, .. } = render(markdown, profile, format);
    Preview { removed, links, words, ..shown(body, format) }
}

/// Returns a page with the profile `page`, as it was rendered when this capability was built.
fn made_before(page: &content::Page, format: Format) -> Preview {
    let body = match format {
        Format::Html => page.html,
        Format::Text => page.text,
    };
    let link = |link: &content::PageLink| Link { url: link.url.into(), text: link.text.into() };
    let links = page.links.iter().map(link).collect();
    Preview { links, words: page.words, ..shown(body.into(), format) }
}

fn shown(body: String, format: Format) -> Preview {
    let (html, text) = match format {
        Format::Html => (Some(body), None),
        Format::Text => (None, Some(body)),
    };
    Preview { html, text, removed: Vec::new(), links: Vec::new(), words: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(input: Value) -> Result<Value, Box<Refusal>> {
        let answer = preview(serde_json::from_value(input).unwrap());
        answer
            .map(|shown| portolan_sdk::to_value(&shown))
            .map_err(|refused| Box::new(refused.into()))
    }

    #[test]
    fn the_answer_has_the_form_that_was_asked_for() {
        let shown = |format: &str| {
            ask(json!({"markdown": "# *a* <b>", "format": format, "profile": "listing"})).unwrap()
        };
        assert_eq!(
            shown("html"),
            json!({
                "html": "<h3><em>a</em> </h3>\n", "links": [], "words": 1,
                "removed": [{"what": "raw_html", "detail": "b", "count": 1}],
            })
        );
        let text = shown("text");
        assert_eq!((text["text"].as_str().unwrap().trim_end(), text.get("html")), ("a", None));
    }

    #[test]
    fn exactly_one_source_is_needed() {
        for input in
            [json!({"format": "html"}), json!({"format": "html", "markdown": "a", "slug": "about"})]
        {
            let refusal = ask(input).unwrap_err();
            assert_eq!(refusal.code, "validation_failed");
            assert_eq!(refusal.conflict.unwrap()["errors"][0]["rule"], "oneOf");
        }
    }

    #[test]
    fn the_limit_counts_bytes() {
        let text =
            |characters: usize| ask(json!({"markdown": "é".repeat(characters), "format": "text"}));
        assert!(text(LARGEST / 2).is_ok());
        let refusal = text(LARGEST / 2 + 1).unwrap_err();
        assert_eq!(refusal.conflict.unwrap()["errors"][0]["pointer"], "/markdown");
    }

    #[test]
    fn an_unknown_slug_is_refused_with_the_known_ones() {
        let refusal = ask(json!({"slug": "nowhere", "format": "html"})).unwrap_err();
        assert_eq!(refusal.code, "content_not_found");
        assert!(refusal.next.is_some());
        let codes: Vec<_> =
            <NoSuchPage as Refusals>::declarations().into_iter().map(|error| error.code).collect();
        assert_eq!(codes, ["content_not_found"]);
    }

    #[test]
    fn a_page_made_before_is_what_rendering_it_now_gives() {
        for page in content::PAGES {
            for format in [Format::Html, Format::Text] {
                let before = portolan_sdk::to_value(&made_before(page, format));
                let now = portolan_sdk::to_value(&written(page.markdown, Profile::Page, format));
                assert_eq!(before, now, "{}", page.slug);
            }
        }
    }
}
