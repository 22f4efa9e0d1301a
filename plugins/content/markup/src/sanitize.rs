//! The second filter: an allow-list over the parsed HTML.

use crate::{anchor, destination, filter, profile::Rules};
use ammonia::{Builder, UrlRelative};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

/// The `rel` attribute of every link to another site.
const REL: &str = "nofollow noopener ugc";

/// Returns the HTML with only what the rules allow.
pub(crate) fn html(unchecked: &str, rules: &'static Rules) -> String {
    let attributes = rules.attributes.iter();
    let attributes: HashMap<&str, HashSet<&str>> =
        attributes.map(|(tag, names)| (*tag, names.iter().copied().collect())).collect();
    let mut builder = Builder::empty();
    builder
        .tags(rules.tags.iter().copied().flatten().copied().collect())
        .tag_attributes(attributes)
        .generic_attributes(HashSet::new())
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some(REL))
        .attribute_filter(value);
    if rules.allows("img") {
        builder.set_tag_attribute_value("img", "referrerpolicy", "no-referrer");
    }
    builder.clean(unchecked).to_string()
}

/// Returns the value that an attribute may keep; `None` if the attribute is removed.
fn value<'v>(tag: &str, attribute: &str, value: &'v str) -> Option<Cow<'v, str>> {
    match (tag, attribute) {
        ("a", "href") => destination::of_link(value).ok().map(Cow::Owned),
        ("img", "src") => destination::of_image(value).ok().map(Cow::Owned),
        ("code", "class") => filter::is_language_class(value).then_some(Cow::Borrowed(value)),
        ("ol", "start") => value.parse::<u32>().is_ok().then_some(Cow::Borrowed(value)),
        (_, "id") => anchor::is_anchor(value).then_some(Cow::Borrowed(value)),
        _ => Some(Cow::Borrowed(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    /// Tests this filter alone, with HTML that did not pass the first one.
    #[test]
    fn hostile_html_does_not_pass() {
        for (hostile, expected) in [
            ("<script>alert(1)</script>a", "a"),
            ("<p onclick=alert(1)>a</p>", "<p>a</p>"),
            ("<a href=javascript:alert(1)>a</a>", r#"<a rel="nofollow noopener ugc">a</a>"#),
            ("<a href=/b>a</a>", r#"<a rel="nofollow noopener ugc">a</a>"#),
            ("<svg><style><p id=x onclick=alert(1)></style></svg>", "<p></p>"),
            ("<code class='a language-b'>a</code>", "<code>a</code>"),
            ("<p style='position:fixed' class=x id=cookie>a", "<p>a</p>"),
            ("<h2 id=cookie>a</h2>", "<h2>a</h2>"),
            ("<form action=https://e.example><input name=a></form>b", "b"),
            ("<ol start='1 onclick=x'><li>a</ol>", "<ol><li>a</li></ol>"),
        ] {
            assert_eq!(html(hostile, Profile::Page.rules()), expected, "{hostile}");
        }
    }

    #[test]
    fn a_link_says_that_strangers_wrote_it() {
        for profile in Profile::ALL {
            assert_eq!(
                html("<a href='HTTPS://E.example' rel=me target=_blank>a</a>", profile.rules()),
                r#"<a href="https://e.example/" rel="nofollow noopener ugc">a</a>"#
            );
        }
    }

    #[test]
    fn an_image_tells_nobody_where_it_is_shown() {
        let image = "<img src=https://e.example/a.png alt=a onerror=b srcset=c>";
        assert_eq!(
            html(image, Profile::Page.rules()),
            r#"<img src="https://e.example/a.png" alt="a" referrerpolicy="no-referrer">"#
        );
    }
}
