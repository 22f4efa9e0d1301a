//! Properties of scores.

use super::{Compared, Fit, Point, Side, examples::profile, fit, harmonic_mean};
use people_kit::{
    listings::{Compensation, Place, Precision, Profile, Unit},
    taxonomy::{Criteria, Criterion, Operator},
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn wants(field: &str, value: Value, weight: f64) -> Criterion {
    Criterion { field: field.into(), op: Operator::Eq, value, weight: Some(weight) }
}

fn with(name: &str, attributes: Value, criteria: Criteria) -> Profile {
    let attributes = attributes.as_object().unwrap().clone();
    Profile { attributes, criteria, ..profile(name) }
}

#[test]
fn required_criteria_hold_in_both_directions() {
    let must =
        |value: bool| Criteria { must: vec![wants("coder", json!(value), 1.0)], want: vec![] };
    let one = with("a", json!({ "coder": true }), must(false));
    let other = with("b", json!({ "coder": false }), Criteria::default());
    assert!(fit(&one, &one.criteria, &other, 0).is_some());
    let asks_too = Profile { criteria: must(false), ..other.clone() };
    assert!(fit(&one, &one.criteria, &asks_too, 0).is_none());
    assert!(fit(&other, &other.criteria, &one, 0).is_some());
    let own = Profile { owner_id: one.owner_id.clone(), ..other.clone() };
    assert!(fit(&one, &one.criteria, &own, 0).is_none());
    let paused = Profile { unreachable: true, ..other.clone() };
    assert!(fit(&one, &one.criteria, &paused, 0).is_none());
    let over = Profile { state: "paused".into(), ..other };
    assert!(fit(&one, &one.criteria, &over, 0).is_none());
}

#[test]
fn reasons_and_gaps_name_who_asks() {
    let asks = Criteria {
        must: Vec::new(),
        want: vec![wants("coder", json!(true), 2.0), wants("city", json!("Oslo"), 1.0)],
    };
    let one = with("a", json!({}), asks);
    let other = with("b", json!({ "coder": true, "city": "Rome" }), Criteria::default());
    let found = fit(&one, &one.criteria, &other, 0).unwrap();
    let point = |field: &str, asked_by| Point { field: field.into(), asked_by };
    let is = |list: &[Compared], point: Point| list.iter().any(|line| line.point == point);
    assert!(is(&found.fits, point("coder", Side::Mine)), "{found:?}");
    assert!(is(&found.gaps, point("city", Side::Mine)), "{found:?}");
    let back = fit(&other, &other.criteria, &one, 0).unwrap();
    assert!(is(&back.fits, point("coder", Side::Theirs)), "{back:?}");
    assert!(found.mine > 0.5 && found.mine < 0.8, "{}", found.mine);
}

#[test]
fn the_score_is_the_mean_of_its_lines() {
    let one =
        with("a", json!({ "seeking": ["sales"], "strengths": ["design"] }), Criteria::default());
    let other =
        with("b", json!({ "strengths": ["sales"], "languages": ["en"] }), Criteria::default());
    let found = fit(&one, &one.criteria, &other, 0).unwrap();
    let mine = || {
        let lines = found.fits.iter().chain(&found.gaps);
        lines.filter(|line| line.point.asked_by == Side::Mine)
    };
    let weights: f64 = mine().map(|line| line.weight).sum();
    let sum: f64 = mine().map(|line| line.weight * line.share.unwrap()).sum();
    assert!((found.mine - sum / weights).abs() < 1e-9);
    let unknown: Vec<_> = found.unknown.iter().map(|line| line.point.field.as_str()).collect();
    assert_eq!(unknown, ["text", "languages", "text"], "{found:#?}");
}

#[test]
fn a_stored_fit_is_read_again_and_an_earlier_one_too() {
    let asks = Criteria { must: Vec::new(), want: vec![wants("city", json!("Oslo"), 1.0)] };
    let one = with("a", json!({ "seeking": ["sales"], "languages": ["en"] }), asks);
    let other = with("b", json!({ "strengths": ["design"] }), Criteria::default());
    let found = fit(&one, &one.criteria, &other, 0).unwrap();
    assert!(!found.gaps.is_empty() && !found.unknown.is_empty());
    let stored = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Fit>(&stored).unwrap(), found);
    let point = json!({ "field": "city", "asked_by": "mine" });
    let earlier = json!({
        "score": 0.5, "mine": 0.5, "theirs": 0.5, "reasons": [point], "gaps": [point],
    });
    assert_eq!(serde_json::from_value::<Fit>(earlier).unwrap().gaps.len(), 1);
}

#[test]
fn contradictions_exclude_without_criteria() {
    let seeks = |name, age: u32, gender: &str, seeking: &str, least: u32, most: u32| {
        let attributes = json!({
            "aims": ["long_term"], "gender": gender, "seeking": [seeking], "age": age,
            "seeking_age_min": least, "seeking_age_max": most,
        });
        Profile {
            category: "social.date".into(),
            counterpart: "social.date".into(),
            ..with(name, attributes, Criteria::default())
        }
    };
    let ada = seeks("a", 36, "woman", "man", 33, 40);
    let fits = |other: &Profile| fit(&ada, &ada.criteria, other, 0).is_some();
    assert!(fits(&seeks("b", 35, "man", "woman", 30, 40)));
    assert!(!fits(&seeks("c", 35, "woman", "man", 30, 40)));
    assert!(!fits(&seeks("d", 45, "man", "woman", 30, 40)));
    assert!(!fits(&seeks("e", 35, "man", "woman", 25, 30)));
    let older = Profile { age_at_least: Some(50), ..seeks("f", 35, "man", "woman", 30, 40) };
    assert!(!fits(&older), "the year of birth says another age");
}

/// Returns a listing of a category, with its counterpart and with the values and words of its text.
fn listing(name: &str, code: &str, text: &str, attributes: Value) -> Profile {
    let category = listing_answers::category(code).unwrap();
    let counterpart = listing_answers::category(category.counterpart).unwrap();
    let side = |sides: &[&str]| match sides {
        ["offer"] => people_kit::taxonomy::Side::Offer,
        _ => people_kit::taxonomy::Side::Demand,
    };
    Profile {
        category: code.into(),
        counterpart: counterpart.code.into(),
        side: side(category.sides),
        counterpart_side: side(counterpart.sides),
        said: listing_answers::extract_values(code, text, "2026-11-24"),
        gist: listing_answers::gist(text),
        ..with(name, attributes, Criteria::default())
    }
}

fn pays(currency: &str, min: Option<f64>, max: Option<f64>, unit: Unit) -> Option<Compensation> {
    Some(Compensation { currency: currency.into(), min, max, unit })
}

#[test]
fn a_home_that_contradicts_is_no_candidate() {
    let wanted = |attributes: Value| {
        let mut all = json!({ "min_bedrooms": 3, "move_in_from": "2027-01-01" });
        all.as_object_mut().unwrap().extend(attributes.as_object().unwrap().clone());
        Profile {
            compensation: pays("USD", None, Some(1500.0), Unit::Month),
            ..listing("a", "home.rent.apartment", "", all)
        }
    };
    let flat = |bedrooms: u32, pets: &str, price: f64, from: &str| Profile {
        compensation: pays("USD", Some(price), Some(price), Unit::Month),
        ..listing(
            "b",
            "home.let.apartment",
            "",
            json!({ "bedrooms": bedrooms, "pets": pets, "available_from": from }),
        )
    };
    let dog = wanted(json!({ "has_pets": true }));
    let fits = |other: &Profile| fit(&dog, &dog.criteria, other, 0).is_some();
    assert!(fits(&flat(3, "allowed", 1500.0, "2027-01-01")));
    assert!(!fits(&flat(3, "not_allowed", 1500.0, "2027-01-01")));
    assert!(!fits(&flat(3, "allowed", 5000.0, "2027-01-01")));
    assert!(!fits(&flat(1, "allowed", 1500.0, "2027-01-01")));
    assert!(!fits(&flat(3, "allowed", 1500.0, "2027-06-01")));
    let other_currency = Profile {
        compensation: pays("EUR", Some(5000.0), None, Unit::Month),
        ..flat(3, "allowed", 0.0, "2027-01-01")
    };
    let found = fit(&dog, &dog.criteria, &other_currency, 0).unwrap();
    assert!(found.unknown.iter().any(|line| line.point.field == "compensation"));
    let weekly = Profile {
        compensation: pays("USD", Some(1250.0), None, Unit::Week),
        ..flat(3, "allowed", 0.0, "2027-01-01")
    };
    assert!(!fits(&weekly), "5,417 a month");
}

#[test]
fn the_job_that_fits_comes_first_in_any_language() {
    let job = listing(
        "job",
        "work.job.software",
        "Senior backend engineer, Rust and SQL",
        json!({ "employment_type": "FULL_TIME", "seniority": "senior", "skills": ["Rust", "SQL"] }),
    );
    let candidate = |name: &str, text: &str, types: &str, seniority: &str, skills: [&str; 2]| {
        let attributes =
            json!({ "employment_types": [types], "seniority": seniority, "skills": skills });
        listing(name, "work.candidate.software", text, attributes)
    };
    let score = |other: &Profile| fit(&job, &job.criteria, other, 0).map(|fit| fit.score);
    let text = "Backend engineer, senior, Rust and SQL";
    let junior = candidate("a", text, "PART_TIME", "junior", ["JavaScript", "CSS"]);
    assert_eq!(score(&junior), None);
    let spanish = "Programador de sistemas con mucha experiencia en Rust y SQL";
    let fitting = score(&candidate("b", spanish, "FULL_TIME", "senior", ["Rust", "SQL"])).unwrap();
    let other = score(&candidate("c", text, "FULL_TIME", "mid", ["Java", "CSS"])).unwrap();
    assert!(fitting > other + 0.1, "{fitting} {other}");
}

#[test]
fn what_a_text_clearly_says_excludes() {
    let attributes = json!({ "min_bedrooms": 1, "move_in_from": "2027-01-01", "has_pets": true });
    let wanted = |text: &str| listing("a", "home.rent.apartment", text, attributes.clone());
    let flat = |text: &str| {
        let attributes = json!({ "bedrooms": 1, "available_from": "2027-01-01" });
        listing("b", "home.let.apartment", text, attributes)
    };
    let fits = |one: &str, other: &str| {
        let mine = wanted(one);
        fit(&mine, &mine.criteria, &flat(other), 0).is_some()
    };
    assert!(!fits("Flat wanted", "A flat. Keine Haustiere."));
    assert!(fits("Flat wanted", "A flat. Pets welcome."));
    assert!(!fits("I use a wheelchair", "Fifth floor without a lift"));
    assert!(fits("I use a wheelchair", "Fifth floor with a lift"));
    assert!(fits("Flat wanted", "Fifth floor without a lift"));
}

#[test]
fn a_value_of_a_list_in_a_text_excludes_nobody_and_is_a_gap() {
    let days = json!({ "employment_types": ["FULL_TIME"], "shifts": ["day"] });
    let nurse = listing("a", "work.candidate.healthcare", "Nurse", days);
    let job = |text: &str| {
        listing("b", "work.job.healthcare", text, json!({ "employment_type": "FULL_TIME" }))
    };
    let score = |text: &str| fit(&nurse, &nurse.criteria, &job(text), 0).unwrap();
    let (nights, days) = (score("Ward nurse, night shift"), score("Ward nurse, day shift"));
    let gap = nights.gaps.iter().find(|line| line.point.field == "shifts").unwrap();
    assert!(gap.from_text && gap.share == Some(0.0), "{gap:?}");
    assert_eq!((&gap.asked, &gap.found), (&json!(["day"]), &json!(["night"])));
    assert!(nights.score + 0.2 < days.score);
}

#[test]
fn the_mean_is_zero_if_one_side_is() {
    assert_eq!(harmonic_mean(0.0, 1.0), 0.0);
    assert_eq!(harmonic_mean(0.5, 0.5), 0.5);
    assert!((harmonic_mean(0.2, 0.8) - 0.32).abs() < 1e-9);
}

fn any_profile(name: &'static str) -> impl Strategy<Value = Profile> {
    let attribute = prop::option::of(0..3i32);
    let wish = prop::collection::vec((0..3usize, 0..3i32, 0.0..10.0f64), 0..4);
    let text = prop::collection::vec(prop::sample::select(vec!["rust", "music", "boats"]), 0..4);
    let place = prop::option::of((-80.0..80.0f64, -170.0..170.0f64));
    (prop::array::uniform3(attribute), wish, text, place, any::<bool>(), 0..1_000_000_000u64)
        .prop_map(move |(values, wishes, text, place, remote, published_at)| {
            let named = values.into_iter().enumerate();
            let attributes =
                named.filter_map(|(at, value)| Some((format!("f{at}"), json!(value?)))).collect();
            let want = wishes
                .into_iter()
                .map(|(at, value, weight)| wants(&format!("f{at}"), json!(value), weight))
                .collect();
            let precision = Precision::City;
            Profile {
                category: "lead.general".into(),
                counterpart: "lead.general".into(),
                attributes,
                criteria: Criteria { must: Vec::new(), want },
                title: text.join(" "),
                place: place.map(|(lat, lng)| Place { lat, lng, label: None, precision }),
                remote,
                published_at,
                ..profile(name)
            }
        })
}

proptest! {
    #[test]
    fn both_sides_see_the_same_score(one in any_profile("a"), other in any_profile("b")) {
        let now = 2_000_000_000;
        let there = fit(&one, &one.criteria, &other, now).unwrap();
        let back = fit(&other, &other.criteria, &one, now).unwrap();
        prop_assert_eq!(there.score, back.score);
        prop_assert_eq!((there.mine, there.theirs), (back.theirs, back.mine));
        for score in [there.score, there.mine, there.theirs] {
            prop_assert!((0.0..=1.0).contains(&score), "{}", score);
        }
        prop_assert_eq!(there.score == 0.0, there.mine == 0.0 || there.theirs == 0.0);
    }
}
