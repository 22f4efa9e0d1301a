//! Which of the codings that there are a client takes (RFC 9110, section 12.5.3).

use axum::http::{HeaderMap, header};

/// Thousandths. What is taken but not named comes after everything that is.
const UNNAMED: u16 = 0;
const MOST: u16 = 1000;

/// The header `Accept-Encoding`.
pub(super) struct Accepted<'a>(Vec<(&'a str, u16)>);

impl<'a> Accepted<'a> {
    pub(super) fn of(headers: &'a HeaderMap) -> Self {
        let lists = headers.get_all(header::ACCEPT_ENCODING).iter();
        let items = lists.filter_map(|value| value.to_str().ok()).flat_map(|list| list.split(','));
        Self(items.filter_map(item).collect())
    }

    /// How much a coding is wanted; nothing, if it is not taken. A client that says nothing takes what
    /// it is given, but what is not packed rather than what is.
    pub(super) fn weight(&self, coding: &str) -> Option<u16> {
        let is = |it: &str, name: &str| it.eq_ignore_ascii_case(name);
        let named =
            |name: &str| self.0.iter().find(|(it, _)| is(it, name)).map(|(_, weight)| *weight);
        let own = named(coding).or_else(|| named("*"));
        let identity = (coding == "identity").then_some(UNNAMED);
        match own {
            Some(weight) => (weight > 0).then_some(weight),
            None => identity,
        }
    }
}

/// `gzip;q=0.5`. What cannot be read is left out.
fn item(text: &str) -> Option<(&str, u16)> {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty())?;
    let name = if name.eq_ignore_ascii_case("x-gzip") { "gzip" } else { name };
    let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
    let weight = match weight {
        Some(text) => text.trim().parse::<f64>().ok().filter(|it| (0.0..=1.0).contains(it))?,
        None => return Some((name, MOST)),
    };
    Some((name, (weight * f64::from(MOST)).round() as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT_ENCODING, text.parse().unwrap())])
    }

    #[test]
    fn weights_are_as_the_client_says() {
        let wanted = [
            ("gzip, br;q=0.5", [Some(0), Some(1000), Some(500)]),
            ("*", [Some(1000), Some(1000), Some(1000)]),
            ("GZIP;q=0.25, *;q=0", [None, Some(250), None]),
            ("identity;q=0, br ; q=1.000", [None, None, Some(1000)]),
            ("x-gzip, br;q=0", [Some(0), Some(1000), None]),
            ("gzip;q=2, br;q=x, deflate", [Some(0), None, None]),
            ("", [Some(0), None, None]),
        ];
        for (text, weights) in wanted {
            let headers = said(text);
            let accepted = Accepted::of(&headers);
            assert_eq!(["identity", "gzip", "br"].map(|it| accepted.weight(it)), weights, "{text}");
        }
        let silent = HeaderMap::new();
        assert_eq!(Accepted::of(&silent).weight("identity"), Some(0));
    }
}
