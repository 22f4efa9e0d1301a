//! The texts that people read in place of the records' identifiers, numbers and times.

/// The look of something that is more or less sure. A lead never looks like a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Fact,
    Lead,
    Past,
}

/// Each maturity in plain words, and how it looks.
const MATURITIES: [(&str, &str, Standing); 11] = [
    ("unsourced", "Not confirmed, no source", Standing::Lead),
    ("source_backed", "Reported by a source", Standing::Fact),
    ("confirmed", "Confirmed", Standing::Fact),
    ("lead", "Lead, not confirmed", Standing::Lead),
    ("corroborated", "Lead from two publishers, not confirmed", Standing::Lead),
    ("verified", "Verified", Standing::Fact),
    ("stale", "Not seen lately", Standing::Past),
    ("closed", "Over", Standing::Past),
    ("expired", "Lead that nobody confirmed", Standing::Past),
    ("disputed", "Disputed", Standing::Past),
    ("retracted", "Retracted", Standing::Past),
];

/// Terms that are not their identifier with spaces.
const TERMS: [(&str, &str); 31] = [
    ("service_provider", "Service provider"),
    ("coworking", "Coworking space"),
    ("pre_seed", "Pre-seed"),
    ("series_a", "Series A"),
    ("series_b", "Series B"),
    ("series_c", "Series C"),
    ("FULL_TIME", "Full time"),
    ("PART_TIME", "Part time"),
    ("CONTRACTOR", "Contract"),
    ("TEMPORARY", "Temporary"),
    ("INTERN", "Internship"),
    ("OTHER", ""),
    ("unspecified", ""),
    ("on_site", "On site"),
    ("linkedin", "LinkedIn"),
    ("x", "X"),
    ("github", "GitHub"),
    ("hiring", "People to hire"),
    ("raising", "Investment"),
    ("cofounder", "A cofounder"),
    ("press", "press"),
    ("filing", "filing with an authority"),
    ("company_site", "the company's own site"),
    ("ats_board", "the company's own job board"),
    ("directory", "public directory"),
    ("social", "public post"),
    ("owner", "the company's verified owner"),
    ("other", "other source"),
    ("role", "Open roles"),
    ("funding", "Funding"),
    ("ONCE", "once"),
];

impl Standing {
    /// Returns the class of the badge.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Lead => "lead",
            Self::Past => "past",
        }
    }
}

/// A maturity as people read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Badge {
    pub(super) label: String,
    pub(super) class: &'static str,
}

impl Badge {
    /// Returns the badge of a maturity. One that is not known here looks like the least sure.
    pub(super) fn of(maturity: &str) -> Self {
        let known = MATURITIES.iter().find(|(id, _, _)| *id == maturity);
        match known {
            Some((_, label, standing)) => {
                Self { label: (*label).to_owned(), class: standing.class() }
            }
            None => Self { label: term(maturity), class: Standing::Lead.class() },
        }
    }
}

/// Returns an identifier as a phrase: `public_body` is "Public body".
pub(super) fn term(id: &str) -> String {
    if let Some((_, term)) = TERMS.iter().find(|(known, _)| *known == id) {
        return (*term).to_owned();
    }
    let words = id.replace('_', " ").to_lowercase();
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns a number with commas between thousands.
pub(super) fn number(amount: f64) -> String {
    let digits = format!("{:.0}", amount.abs().min(1e15));
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    let groups: Vec<&str> =
        groups.into_iter().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

pub(super) fn money(amount: f64, currency: &str) -> String {
    format!("{currency} {}", number(amount))
}

/// Returns an amount as its source states it, to the cent.
pub(super) fn exact_money(amount: f64, currency: &str) -> String {
    let cents = (amount.abs().min(1e13) * 100.0).round();
    let (whole, rest) = ((cents / 100.0).floor(), cents % 100.0);
    let whole = money(whole, currency);
    if rest == 0.0 { whole } else { format!("{whole}.{rest:02.0}") }
}

/// Returns the period of a pay: "an hour", "a year", "once".
pub(super) fn per(unit: &str) -> String {
    match unit {
        "ONCE" => "once".to_owned(),
        "HOUR" => "an hour".to_owned(),
        unit => format!("a {}", unit.to_lowercase()),
    }
}

/// Returns at most this many characters of a text, cut between words.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = text.char_indices().nth(most) else { return text };
    let kept = text.get(..end).unwrap_or_default();
    let kept = kept.rsplit_once(' ').map_or(kept, |(before, _)| before);
    format!("{}…", kept.trim_end_matches([',', '.', ';', ':', '…']))
}

/// Returns an address that a link may have: only http and https.
pub(super) fn web(url: &str) -> Option<&str> {
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    (is_web && !url.contains(char::is_whitespace)).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_become_words() {
        assert_eq!(
            ["seed", "series_a", "public_body", ""].map(term),
            ["Seed", "Series A", "Public body", ""]
        );
        assert_eq!(
            Badge::of("lead"),
            Badge { label: "Lead, not confirmed".to_owned(), class: "lead" }
        );
        assert_eq!(Badge::of("rumoured").class, "lead");
        assert_eq!(Badge::of("confirmed").class, "fact");
    }

    #[test]
    fn numbers_are_readable_whatever_they_are() {
        assert_eq!(money(5_000_000.0, "USD"), "USD 5,000,000");
        assert_eq!(
            [0.0, 999.4, 1000.0, -1234.0, f64::INFINITY].map(number),
            ["0", "999", "1,000", "1,234", "1,000,000,000,000,000"]
        );
        assert_eq!(
            [17.5, 22.25, 1_234.05, 120_000.0, 0.999].map(|sum| exact_money(sum, "USD")),
            ["USD 17.50", "USD 22.25", "USD 1,234.05", "USD 120,000", "USD 1"]
        );
        assert_eq!(["HOUR", "YEAR", "ONCE"].map(per), ["an hour", "a year", "once"]);
        assert_eq!(shortened("one two three", 8), "one two…");
        assert_eq!(shortened(" é\n é ", 3), "é é");
    }

    #[test]
    fn only_addresses_of_the_web_become_links() {
        assert_eq!(web("https://a.example/"), Some("https://a.example/"));
        for url in ["javascript:x()", "data:text/html,x", "//a.example", "https://a b", ""] {
            assert_eq!(web(url), None, "{url}");
        }
    }
}
