//! Content negotiation: which content codings a client accepts (RFC 9110, section 12.5.3).

use axum::http::{HeaderMap, header};
use portolan_publication::{Body, Coding};

/// The weight, in thousandths, of `identity` where the client does not list it: below every other.
const IDENTITY_WEIGHT: u16 = 0;
/// The codings that make a body smaller.
const COMPRESSIONS: [Coding; 2] = [Coding::Gzip, Coding::Brotli];
/// The highest weight.
pub(super) const MAX_WEIGHT: u16 = 1000;

/// The codings of `Accept-Encoding` with their weights.
pub(super) struct AcceptedCodings<'a>(Vec<(&'a str, u16)>);

impl<'a> AcceptedCodings<'a> {
    pub(super) fn of(headers: &'a HeaderMap) -> Self {
        let lists = headers.get_all(header::ACCEPT_ENCODING).iter();
        let items = lists.filter_map(|value| value.to_str().ok()).flat_map(|list| list.split(','));
        Self(items.filter_map(parse_item).collect())
    }

    /// Returns the weight of a coding, or `None` if the client does not accept it. Without the header, only
    /// `identity` is accepted.
    pub(super) fn weight(&self, coding: &str) -> Option<u16> {
        let listed_weight = |wanted: &str| {
            let found = self.0.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, weight)| *weight)
        };
        let weight = listed_weight(coding).or_else(|| listed_weight("*"));
        let identity = (coding == "identity").then_some(IDENTITY_WEIGHT);
        match weight {
            Some(weight) => (weight > 0).then_some(weight),
            None => identity,
        }
    }

    /// Returns whether the client likes a compressed body at least as much as the uncompressed one.
    pub(super) fn prefers_compression(&self) -> bool {
        let best = COMPRESSIONS.iter().filter_map(|coding| self.weight(coding.name())).max();
        best.is_some() && best >= self.weight(Coding::Identity.name())
    }

    /// Returns the body in the coding that the client prefers; of equal ones, the last. `None` if the client
    /// accepts none of them.
    pub(super) fn best<'b>(&self, bodies: impl Iterator<Item = &'b Body>) -> Option<&'b Body> {
        let weighted = bodies.filter_map(|body| Some((self.weight(body.coding.name())?, body)));
        weighted.max_by_key(|(weight, _)| *weight).map(|(_, body)| body)
    }
}

/// Parses an item such as `gzip;q=0.5` of this header or of `Accept`. Returns `None` if it has no name, or a
/// weight that is not a number from 0 to 1.
pub(super) fn parse_item(text: &str) -> Option<(&str, u16)> {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty())?;
    let name = if name.eq_ignore_ascii_case("x-gzip") { "gzip" } else { name };
    let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
    let weight = match weight {
        Some(text) => {
            text.trim().parse::<f64>().ok().filter(|weight| (0.0..=1.0).contains(weight))?
        }
        None => return Some((name, MAX_WEIGHT)),
    };
    Some((name, (weight * f64::from(MAX_WEIGHT)).round() as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepting(text: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT_ENCODING, text.parse().unwrap())])
    }

    #[test]
    fn codings_have_the_weights_of_the_header() {
        let cases = [
            ("gzip, br;q=0.5", [Some(0), Some(1000), Some(500)]),
            ("*", [Some(1000), Some(1000), Some(1000)]),
            ("GZIP;q=0.25, *;q=0", [None, Some(250), None]),
            ("identity;q=0, br ; q=1.000", [None, None, Some(1000)]),
            ("x-gzip, br;q=0", [Some(0), Some(1000), None]),
            ("gzip;q=2, br;q=x, deflate", [Some(0), None, None]),
            ("", [Some(0), None, None]),
        ];
        for (text, weights) in cases {
            let headers = accepting(text);
            let accepted = AcceptedCodings::of(&headers);
            assert_eq!(
                ["identity", "gzip", "br"].map(|name| accepted.weight(name)),
                weights,
                "{text}"
            );
        }
        for (text, prefers) in
            [("gzip", true), ("*", true), ("br;q=0.5, identity", false), ("deflate", false)]
        {
            assert_eq!(
                AcceptedCodings::of(&accepting(text)).prefers_compression(),
                prefers,
                "{text}"
            );
        }
        let without_header = HeaderMap::new();
        assert_eq!(AcceptedCodings::of(&without_header).weight("identity"), Some(0));
    }
}
