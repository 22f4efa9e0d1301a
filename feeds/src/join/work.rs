//! Finds the kinds of work in a title or a text, and the seniority in a title.

use crate::record::Occupation;

/// A kind of work: its name, beginnings of the words for it, and the closest class of O*NET-SOC.
///
/// Codes of the O*NET-SOC 2019 taxonomy, used under CC BY 4.0 (National Center for O*NET Development).
struct Work {
    function: &'static str,
    words: &'static [&'static str],
    onet_soc: Option<&'static str>,
}

/// The kinds of work, the more specific first.
const KINDS: [Work; 12] = [
    Work {
        function: "data",
        words: &["data ", "analyst", "analytics", "machine learning", "scientist"],
        onet_soc: Some("15-2051.00"),
    },
    Work {
        function: "design",
        words: &["design", "ux", "illustrator"],
        onet_soc: Some("15-1255.00"),
    },
    Work {
        function: "product",
        words: &["product manager", "product lead", "product owner", "head of product"],
        onet_soc: None,
    },
    Work {
        function: "engineering",
        words: &["engineer", "developer", "firmware", "devops", "architect", "sre"],
        onet_soc: Some("15-1252.00"),
    },
    Work {
        function: "sales",
        words: &["sales", "account executive", "business development"],
        onet_soc: Some("41-3091.00"),
    },
    Work {
        function: "marketing",
        words: &["marketing", "content", "brand", "growth"],
        onet_soc: Some("13-1161.00"),
    },
    Work {
        function: "support",
        words: &["support", "customer success", "community"],
        onet_soc: Some("43-4051.00"),
    },
    Work {
        function: "people",
        words: &["recruit", "people ", "talent", "human resources"],
        onet_soc: Some("13-1071.00"),
    },
    Work {
        function: "finance",
        words: &["finance", "accountant", "controller"],
        onet_soc: Some("13-2011.00"),
    },
    Work {
        function: "legal",
        words: &["counsel", "legal", "lawyer"],
        onet_soc: Some("23-1011.00"),
    },
    Work {
        function: "operations",
        words: &["operations", "office manager", "chief of staff", "logistics"],
        onet_soc: Some("11-1021.00"),
    },
    Work {
        function: "science",
        words: &["research", "chemist", "biologist", "lab "],
        onet_soc: None,
    },
];

const OTHER: &str = "other";

/// Words in titles, and the seniority that they mean.
const SENIORITY: [(&str, &str); 10] = [
    ("intern ", "intern"),
    ("junior", "junior"),
    ("associate", "junior"),
    ("senior", "senior"),
    ("staff", "staff"),
    ("principal", "principal"),
    ("head of", "lead"),
    ("lead", "lead"),
    ("director", "director"),
    ("vp", "executive"),
];

/// Returns the text in lower case, with one space before and after each word.
fn padded(text: &str) -> String {
    let letters: String = text
        .chars()
        .map(|character| if character.is_alphanumeric() { character } else { ' ' })
        .collect();
    format!(" {} ", letters.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns whether a word of the text begins with this part.
fn speaks_of(padded: &str, part: &str) -> bool {
    padded.contains(&format!(" {part}"))
}

pub(super) fn function(title: &str) -> &'static str {
    functions(title).first().copied().unwrap_or(OTHER)
}

/// Returns all kinds of work in a text.
pub(super) fn functions(text: &str) -> Vec<&'static str> {
    let text = padded(text);
    let speaks = |work: &&Work| work.words.iter().any(|part| speaks_of(&text, part));
    KINDS.iter().filter(speaks).map(|work| work.function).collect()
}

pub(super) fn occupation(function: &str) -> Option<Occupation> {
    let work = KINDS.iter().find(|work| work.function == function)?;
    let onet_soc = work.onet_soc?.to_owned();
    Some(Occupation { onet_soc, relation: "closeMatch".to_owned() })
}

/// Returns the seniority from the board's own level, or from the title.
pub(super) fn seniority(level: Option<&str>, title: &str) -> Option<String> {
    let found = |text: &str| {
        let text = padded(text);
        SENIORITY
            .iter()
            .find(|(part, _)| speaks_of(&text, part))
            .map(|(_, term)| (*term).to_owned())
    };
    level.and_then(found).or_else(|| found(title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_tell_the_kind_of_work() {
        for (title, name) in [
            ("Senior Firmware Engineer", "engineering"),
            ("Data Scientist", "data"),
            ("Product Designer", "design"),
            ("Head of People & Talent", "people"),
            ("General Counsel", "legal"),
            ("Florist", "other"),
        ] {
            assert_eq!(function(title), name, "{title}");
        }
        assert_eq!(functions("We hire engineers and designers"), ["design", "engineering"]);
        assert_eq!(seniority(None, "Staff Engineer").as_deref(), Some("staff"));
        assert_eq!(seniority(Some("Associate"), "Engineer").as_deref(), Some("junior"));
    }
}
