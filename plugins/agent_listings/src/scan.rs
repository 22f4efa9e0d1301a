//! Phrases for which a text is looked at before it is published. They hold a listing back, they
//! do not refuse it: a person decides.

use crate::types::Content;
use serde_json::Value;

/// Where a phrase is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    /// Fair Housing Act, 42 U.S.C. 3604(c): no notice or advertisement about a dwelling that
    /// indicates a preference by race, colour, religion, sex, disability, familial status or
    /// national origin.
    Homes,
    /// Title VII of the Civil Rights Act, 42 U.S.C. 2000e-3(b), and the ADEA, 29 U.S.C. 623(e): no
    /// notice or advertisement about employment that indicates such a preference, or one by age.
    Work,
    /// Both of them.
    HomesAndWork,
    /// Advance-fee fraud, as the Federal Trade Commission describes it for rentals and jobs.
    Everywhere,
}

use Field::{Everywhere, Homes, HomesAndWork, Work};

/// The name of what is flagged, where, and the phrases: words in small letters.
const PHRASES: [(&str, Field, &[&str]); 12] = [
    (
        "familial_status",
        Homes,
        &[
            "no children",
            "no kids",
            "no child",
            "without children",
            "no families",
            "no babies",
            "adults only",
            "adult only",
            "adult community",
            "child free",
            "childfree",
            "childless",
            "singles only",
            "couples only",
            "single person only",
            "mature couple",
            "mature person",
            "empty nesters",
            "no teenagers",
            "ideal for couple",
            "perfect for singles",
        ],
    ),
    (
        "sex",
        Homes,
        &[
            "no men",
            "no women",
            "males preferred",
            "females preferred",
            "male tenant",
            "female tenant",
            "men only",
            "women only",
        ],
    ),
    (
        "source_and_household",
        Homes,
        &[
            "no section 8",
            "no wheelchairs",
            "no mentally ill",
            "able bodied",
            "must be able to live independently",
            "no service animals",
            "no emotional support animals",
        ],
    ),
    (
        "religion",
        HomesAndWork,
        &[
            "christian preferred",
            "christians preferred",
            "christian home",
            "christian household",
            "christians only",
            "christian only",
            "catholics only",
            "catholic preferred",
            "jewish only",
            "jewish preferred",
            "muslims only",
            "muslim only",
            "muslim preferred",
            "hindus only",
            "no muslims",
            "no jews",
            "no christians",
            "no atheists",
        ],
    ),
    (
        "race",
        HomesAndWork,
        &[
            "whites only",
            "white only",
            "whites preferred",
            "no blacks",
            "no asians",
            "no hispanics",
            "no latinos",
            "caucasian only",
            "caucasians only",
            "caucasian preferred",
            "white neighborhood",
            "white neighbourhood",
            "no minorities",
            "asians only",
            "latinos only",
            "hispanics only",
            "blacks only",
            "no indians",
            "no mexicans",
            "no arabs",
        ],
    ),
    (
        "national_origin",
        HomesAndWork,
        &[
            "no foreigners",
            "no immigrants",
            "americans only",
            "american only",
            "us citizens only",
            "citizens only",
            "american born",
            "english speakers only",
            "native english speakers only",
            "native speakers only",
            "native speaker only",
            "no accents",
            "no refugees",
        ],
    ),
    (
        "disability",
        HomesAndWork,
        &[
            "no disabled",
            "no disabilities",
            "no handicapped",
            "not suitable for disabled",
            "not suitable for handicapped",
            "no mental illness",
            "healthy only",
            "must be healthy",
        ],
    ),
    (
        "orientation",
        HomesAndWork,
        &[
            "no gays",
            "no gay",
            "no lesbians",
            "no lgbt",
            "straight only",
            "no transgender",
            "no trans people",
            "heterosexual only",
        ],
    ),
    (
        "sex",
        Work,
        &[
            "males only",
            "male only",
            "men only",
            "women only",
            "females only",
            "female only",
            "males preferred",
            "male preferred",
            "females preferred",
            "female preferred",
            "young lady",
            "young ladies",
            "girls only",
            "no women",
            "no men",
            "pregnant women need not apply",
            "attractive female",
            "salesmen wanted",
            "waitress only",
        ],
    ),
    (
        "sex",
        Homes,
        &["males only", "male only", "females only", "female only", "girls only", "ladies only"],
    ),
    (
        "age",
        Work,
        &[
            "under 25",
            "under 30",
            "under 35",
            "under 40",
            "no older than",
            "young and energetic",
            "young professionals only",
            "young team only",
            "digital native",
            "digital natives",
            "recent graduates only",
            "maximum age",
            "max age",
            "age limit",
            "no seniors",
            "no retirees",
            "youthful",
            "overqualified need not apply",
        ],
    ),
    (
        "advance_fee",
        Everywhere,
        &[
            "wire transfer upfront",
            "wire transfer up front",
            "wire the deposit",
            "wire me the",
            "wire the money",
            "western union",
            "moneygram",
            "gift card",
            "gift cards",
            "send deposit before viewing",
            "deposit before viewing",
            "pay before viewing",
            "payment before viewing",
            "send money first",
            "pay upfront to secure",
            "pay up front to secure",
            "cashier s check",
            "training fee",
            "registration fee upfront",
            "pay for your own background check",
            "processing fee upfront",
            "send bitcoin",
            "pay in bitcoin",
            "pay in crypto",
            "money mule",
            "keys will be mailed",
            "i am out of the country",
            "currently out of the country",
            "guaranteed returns",
            "guaranteed profit",
            "no experience needed earn",
        ],
    ),
];

/// The names of what is flagged in a listing of this category, each once.
pub(crate) fn flags(category: &str, content: &Content) -> Vec<String> {
    let mut text = format!("{} . {} . ", content.title, content.description);
    let mut add = |value: &Value| collect(value, &mut text);
    content.attributes.values().for_each(&mut add);
    let criteria = content.criteria.must.iter().chain(&content.criteria.want);
    criteria.for_each(|criterion| add(&criterion.value));
    let words = words(&text);
    let root = category.split('.').next().unwrap_or_default();
    let mut flags: Vec<String> = Vec::new();
    for (name, field, phrases) in PHRASES {
        let applies = match field {
            Homes => root == "home",
            Work => root == "work",
            HomesAndWork => root == "home" || root == "work",
            Everywhere => true,
        };
        let said = || phrases.iter().any(|phrase| words.contains(&format!(" {phrase} ")));
        if applies && !flags.iter().any(|flag| flag == name) && said() {
            flags.push(name.to_owned());
        }
    }
    flags
}

fn collect(value: &Value, text: &mut String) {
    match value {
        Value::String(part) => {
            text.push_str(part);
            text.push_str(" . ");
        }
        Value::Array(parts) => parts.iter().for_each(|part| collect(part, text)),
        _ => {}
    }
}

/// Words in small letters with one space around each: markup and signs between them do not hide a
/// phrase.
fn words(text: &str) -> String {
    let unseen = |letter: &char| {
        !matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
    };
    let lower: String = text.chars().filter(unseen).flat_map(char::to_lowercase).collect();
    let mut words = String::with_capacity(lower.len() + 2);
    for word in lower.split(|letter: char| !letter.is_alphanumeric()).filter(|it| !it.is_empty()) {
        words.push(' ');
        words.push_str(word);
    }
    words.push(' ');
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn flagged(category: &str, description: &str) -> Vec<String> {
        let content = json!({"title": "A title", "description": description, "attributes": {}});
        flags(category, &serde_json::from_value(content).unwrap())
    }

    #[test]
    fn phrases_are_flagged_where_the_law_is_about_them() {
        for (category, text, flag) in [
            ("home.let.room", "Quiet house, NO **children**, please.", "familial_status"),
            ("home.let", "Adults-only building", "familial_status"),
            ("home.let", "christian\u{200b} preferred", "religion"),
            ("work.job.sales", "Males only", "sex"),
            ("work.job", "for young and energetic people", "age"),
            ("social.friend", "send gift cards", "advance_fee"),
        ] {
            assert_eq!(flagged(category, text), [flag], "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_flagged() {
        for (category, text) in [
            ("home.let", "Children welcome. Near a church. Families too."),
            ("work.job", "Women and men of any age are welcome"),
            ("social.friend.parents", "No kids this time, adults only"),
            ("home.let", "The wire transfer of the deposit happens at the signing"),
        ] {
            assert_eq!(flagged(category, text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn attributes_are_read_too() {
        let content = json!({
            "title": "A", "description": "B", "attributes": {"features": ["no kids"]},
        });
        let content = serde_json::from_value(content).unwrap();
        assert_eq!(flags("home.let", &content), ["familial_status"]);
    }
}
