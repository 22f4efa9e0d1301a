//! Content negotiation: which media types a client accepts (RFC 9110, section 12.5.1).

use crate::coding::{MAX_WEIGHT, parse_item};
use axum::http::{HeaderMap, header};

pub(super) const HTML: &str = "text/html";
pub(super) const JSON: &str = "application/json";

/// The media ranges of `Accept` with their weights.
pub(super) struct AcceptedTypes<'a>(Vec<(&'a str, u16)>);

/// A client's preference for a media type: its weight, and how precisely it has named the type.
type Rank = (u16, u8);

impl<'a> AcceptedTypes<'a> {
    pub(super) fn of(headers: &'a HeaderMap) -> Self {
        let lists = headers.get_all(header::ACCEPT).iter();
        let items = lists.filter_map(|value| value.to_str().ok()).flat_map(|list| list.split(','));
        Self(items.filter_map(parse_item).collect())
    }

    /// Returns the type that the client likes best; of equal ones, the first. A type that is named precisely
    /// comes before one that only a wildcard stands for. `None` if the client accepts none of them.
    pub(super) fn best(&self, offered: &[&'static str]) -> Option<&'static str> {
        let ranked = offered.iter().filter_map(|name| Some((self.rank(name)?, *name)));
        let first_of_best =
            |best: (Rank, _), next: (Rank, _)| if next.0 > best.0 { next } else { best };
        ranked.reduce(first_of_best).map(|(_, name)| name)
    }

    /// Returns the rank of a type by the most precise range that contains it. Without the header, every type
    /// is accepted.
    fn rank(&self, name: &str) -> Option<Rank> {
        if self.0.is_empty() {
            return Some((MAX_WEIGHT, 0));
        }
        let ranges =
            self.0.iter().filter_map(|(range, weight)| Some((precision(range, name)?, weight)));
        let (precision, weight) = ranges.max_by_key(|(precision, _)| *precision)?;
        (*weight > 0).then_some((*weight, precision))
    }
}

/// Returns how precisely a range names a type: 2 by its name, 1 as `text/*`, 0 as `*/*`. `None` if it does not
/// contain the type.
fn precision(range: &str, name: &str) -> Option<u8> {
    let family = range.strip_suffix("/*");
    match family {
        Some("*") => Some(0),
        Some(family) => {
            let is_in = name.split('/').next().is_some_and(|own| own.eq_ignore_ascii_case(family));
            is_in.then_some(1)
        }
        None => range.eq_ignore_ascii_case(name).then_some(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFERED: [&str; 3] = [JSON, HTML, "text/plain"];

    fn best(accept: Option<&str>) -> Option<&'static str> {
        let accept = accept.map(|text| (header::ACCEPT, text.parse().unwrap()));
        AcceptedTypes::of(&HeaderMap::from_iter(accept)).best(&OFFERED)
    }

    #[test]
    fn the_best_type_is_the_one_that_the_client_prefers() {
        const CHROMIUM: &str =
            "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";
        let cases = [
            (None, Some(JSON)),
            (Some(""), Some(JSON)),
            (Some("*/*"), Some(JSON)),
            (Some("application/json"), Some(JSON)),
            (Some("application/json, text/plain, */*"), Some(JSON)),
            (Some("application/json, text/html"), Some(JSON)),
            (Some("text/html, application/json"), Some(JSON)),
            (Some("application/*"), Some(JSON)),
            (Some(CHROMIUM), Some(HTML)),
            (Some("text/html"), Some(HTML)),
            (Some("Text/HTML;charset=utf-8"), Some(HTML)),
            (Some("text/html, */*"), Some(HTML)),
            (Some("*/*, text/html"), Some(HTML)),
            (Some("text/*"), Some(HTML)),
            (Some("application/json;q=0.5, text/html;q=0.6"), Some(HTML)),
            (Some("text/html;q=0.4, application/json;q=0.5"), Some(JSON)),
            (Some("text/html;q=0, */*"), Some(JSON)),
            (Some("text/plain"), Some("text/plain")),
            (Some("text/*;q=0.3, text/html;q=0"), Some("text/plain")),
            (Some("image/png"), None),
            (Some("text/event-stream"), None),
            (Some("*/*;q=0"), None),
        ];
        for (accept, expected) in cases {
            assert_eq!(best(accept), expected, "{accept:?}");
        }
    }
}
