//! The content of a listing, checked before it is stored.

use crate::{refusals::*, scan, types::*};
use listing_search::SearchError;
use people_kit::contact::has_contact_data;
use people_kit::listings::NO_CURRENCY;
use people_kit::taxonomy::{self, CheckInput, Checked, Side};
use people_kit::text::{Faults, Lines, check_title, plain, public};
use portolan_sdk::prelude::*;
use serde_json::Value;

const LONGEST_TITLE: usize = 120;
const LONGEST_DESCRIPTION: usize = 8000;
const LONGEST_LABEL: usize = 120;
const MOST_MONEY: f64 = 1e12;
/// The maximum number of characters of a description that cards show and searches read.
const EXCERPT: usize = 300;
/// The attributes that hold numbers of a register. These numbers are as long as phone numbers.
const REGISTERED: [&str; 2] = ["registration_number", "credentials"];

/// The results of checking the content of a listing in its category.
pub(crate) struct Prepared {
    pub(crate) content: Content,
    pub(crate) checked: Checked,
    pub(crate) visibility: Visibility,
    pub(crate) excerpt: String,
    pub(crate) flags: Vec<String>,
}

/// Returns the content in its normal form. `base` is the JSON Pointer of the content in the body:
/// empty, or `/patch`.
pub(crate) fn prepare(
    category: &str,
    side: Side,
    content: Content,
    base: &str,
    now: u64,
) -> Result<Prepared> {
    let mut content = plain_content(content, base, now)?;
    let input = CheckInput {
        code: category.to_owned(),
        side,
        attributes: content.attributes,
        criteria: content.criteria.clone(),
        text: format!("{}. {}", content.title, content.description),
    };
    let [attributes, criteria] = ["attributes", "criteria"].map(|name| format!("{base}/{name}"));
    let checked = taxonomy::check(&input)
        .map_err(|error| SearchError::Taxonomy(error.at(&attributes, &criteria)))?;
    content.attributes = checked.attributes.clone();
    if checked.policy.min_age.is_some() {
        // In social categories the exact place is not even stored.
        content.place = content.place.as_ref().map(Place::public);
    }
    let by_default = match checked.policy.default_visibility.as_str() {
        "network" => Visibility::Network,
        _ => Visibility::Public,
    };
    Ok(Prepared {
        visibility: content.visibility.unwrap_or(by_default),
        excerpt: excerpt(&content.description)?,
        flags: scan::flags(category, &content),
        checked,
        content,
    })
}

/// Checks every text for contact data, and the order of every amount and time.
fn plain_content(mut content: Content, base: &str, now: u64) -> Result<Content> {
    let mut faults = Faults::default();
    let at = |name: &str| format!("{base}/{name}");
    for (text, name, lines, longest) in [
        (&mut content.title, "title", Lines::One, LONGEST_TITLE),
        (&mut content.description, "description", Lines::Many, LONGEST_DESCRIPTION),
    ] {
        *text = public(&at(name), text, lines, &mut faults);
        if text.chars().count() > longest {
            faults.add(at(name), "maxLength", "a shorter text");
        }
    }
    check_title(&at("title"), &content.title, &mut faults);
    for (name, value) in &mut content.attributes {
        let name = name.replace('~', "~0").replace('/', "~1");
        let pointer = at(&format!("attributes/{name}"));
        check_texts(value, &pointer, REGISTERED.contains(&name.as_str()), &mut faults);
    }
    for (kind, list) in [("must", &mut content.criteria.must), ("want", &mut content.criteria.want)]
    {
        for (index, criterion) in list.iter_mut().enumerate() {
            let pointer = at(&format!("criteria/{kind}/{index}/value"));
            check_texts(&mut criterion.value, &pointer, false, &mut faults);
            if criterion.weight.is_some_and(|weight| !(0.0..=10.0).contains(&weight)) {
                let pointer = at(&format!("criteria/{kind}/{index}/weight"));
                faults.add(pointer, "range", "a number from 0 to 10");
            }
        }
    }
    if let Some(place) = &mut content.place {
        let is_on_earth = place.lat.abs() <= 90.0 && place.lng.abs() <= 180.0;
        if !is_on_earth {
            faults.add(at("place"), "range", "degrees on the earth");
        }
        if let Some(label) = &mut place.label {
            *label = public(&at("place/label"), label, Lines::One, &mut faults);
            if label.chars().count() > LONGEST_LABEL {
                faults.add(at("place/label"), "maxLength", "a shorter text");
            }
        }
    }
    if let Some(pay) = &content.compensation {
        let (low, high) = pay.range();
        let fits = |amount: Option<f64>| amount.is_none_or(|sum| (0.0..=MOST_MONEY).contains(&sum));
        if pay.min.is_none() && pay.max.is_none() {
            faults.add(at("compensation"), "required", "min, max or both");
        } else if low > high || !fits(pay.min) || !fits(pay.max) {
            faults.add(at("compensation"), "range", "min not above max, both at least 0");
        }
        if pay.currency.len() != 3 || !pay.currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
            faults.add(at("compensation/currency"), "pattern", "three capital letters");
        }
        // ISO 4217 has this code for no currency, and texts without one are read with it.
        if pay.currency == NO_CURRENCY {
            faults.add(at("compensation/currency"), "currency", "a currency, such as USD");
        }
    }
    if let Some(end) = &content.valid_through {
        let end = time::parse(end);
        if !end.is_some_and(|end| end > now && end <= now + LONGEST_DAYS * DAY) {
            faults.add(at("valid_through"), "range", "an RFC 3339 instant in the next 180 days");
        }
    }
    faults.check().map_err(ListingsError::Text)?;
    Ok(content)
}

/// Checks every text in an attribute or a criterion.
fn check_texts(value: &mut Value, pointer: &str, is_registered: bool, faults: &mut Faults) {
    match value {
        Value::String(text) if is_registered => {
            let letters: String = text.chars().filter(|letter| !letter.is_numeric()).collect();
            if has_contact_data(&letters) {
                public(pointer, &letters, Lines::One, faults);
            }
            *text = plain(pointer, text, Lines::One, faults);
        }
        Value::String(text) => *text = public(pointer, text, Lines::One, faults),
        Value::Array(values) => {
            for (index, value) in values.iter_mut().enumerate() {
                check_texts(value, &format!("{pointer}/{index}"), is_registered, faults);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                check_texts(value, &format!("{pointer}/{name}"), is_registered, faults);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[derive(Deserialize)]
pub(crate) struct Rendered {
    html: Option<String>,
    text: Option<String>,
}

pub(crate) const RENDER: Invocation<Value, Rendered> = Invocation::new("content_render", "render");

fn rendered(markdown: &str, format: &str) -> Result<Rendered> {
    let input = json!({ "markdown": markdown, "format": format, "profile": "listing" });
    Ok(RENDER.call(&input)?)
}

/// Renders the description as others see it, with the current version of the sanitiser.
pub(crate) fn html(markdown: &str) -> Result<String> {
    Ok(rendered(markdown, "html")?.html.unwrap_or_default())
}

fn excerpt(markdown: &str) -> Result<String> {
    Ok(shortened(&rendered(markdown, "text")?.text.unwrap_or_default()))
}

fn shortened(text: &str) -> String {
    let mut short = String::new();
    for word in text.split_whitespace() {
        if short.chars().count() + word.chars().count() >= EXCERPT {
            let room = EXCERPT.saturating_sub(short.chars().count() + 2);
            if short.is_empty() {
                short.extend(word.chars().take(room));
            }
            short.push('…');
            break;
        }
        if !short.is_empty() {
            short.push(' ');
        }
        short.push_str(word);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NOW: u64 = 1_795_000_000_000;

    fn refused(change: Value) -> Vec<String> {
        let mut content = json!({"title": "Room", "description": "Nice.", "attributes": {}});
        let members = content.as_object_mut().unwrap();
        members.extend(change.as_object().unwrap().clone());
        let content = serde_json::from_value(content).unwrap();
        let Err(error) = plain_content(content, "/patch", NOW) else { return Vec::new() };
        let conflict = Refusal::from(error).conflict.unwrap();
        let errors = conflict["errors"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        errors.map(|error| text(&error["pointer"]) + " " + &text(&error["rule"])).collect()
    }

    #[test]
    fn all_faults_are_reported_together() {
        let found = refused(json!({
            "title": " ", "description": "mail ada@example.com",
            "attributes": {"features": ["call 415 555 0123"], "registration_number": "STR-0000000"},
            "criteria": {"must": [{"field": "a", "op": "eq", "value": "ada@example.com"}],
                         "want": [{"field": "a", "op": "eq", "value": 1, "weight": 20}]},
            "place": {"lat": 91, "lng": 0, "label": "x@example.com", "precision": "city"},
            "compensation": {"currency": "USD", "min": 5, "max": 4, "unit": "HOUR"},
            "valid_through": "2026-01-01T00:00:00Z",
        }));
        assert_eq!(
            found,
            [
                "/patch/title not_blank",
                "/patch/description no_contact_data",
                "/patch/attributes/features/0 no_contact_data",
                "/patch/criteria/must/0/value no_contact_data",
                "/patch/criteria/want/0/weight range",
                "/patch/place range",
                "/patch/place/label no_contact_data",
                "/patch/compensation range",
                "/patch/valid_through range",
            ]
        );
        assert_eq!(refused(json!({})), Vec::<String>::new());
        let none = json!({ "currency": NO_CURRENCY, "min": 5, "max": 5, "unit": "HOUR" });
        let found = refused(json!({ "compensation": none }));
        assert_eq!(found, ["/patch/compensation/currency currency"]);
    }

    #[test]
    fn a_number_of_a_register_is_no_phone_number() {
        let number = |text: &str| refused(json!({"attributes": {"registration_number": text}}));
        assert_eq!(number("STR-0000000"), Vec::<String>::new());
        assert_eq!(number("1ada@example.com").len(), 1);
    }

    #[test]
    fn excerpts_end_at_a_word() {
        assert_eq!(shortened("one\n two"), "one two");
        let long = shortened(&"word ".repeat(200));
        assert!(long.ends_with("word…") && long.chars().count() <= EXCERPT, "{long}");
        assert!(shortened(&"x".repeat(1000)).chars().count() <= EXCERPT);
    }
}
