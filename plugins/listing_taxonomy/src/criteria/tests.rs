//! Criteria follow the counterpart's schema and never use prohibited fields.
use super::*;
use crate::taxonomy::{self, NODES};

fn criteria(code: &str) -> Vec<Criterion> {
    about(taxonomy::node(code).unwrap())
}

fn criterion(code: &str, field: &str) -> Option<Criterion> {
    criteria(code).into_iter().find(|criterion| criterion.field == field)
}

#[test]
fn operators_fit_the_type() {
    let bedrooms = criterion("home.let.apartment", "bedrooms").unwrap();
    assert_eq!((bedrooms.value_type.as_str(), bedrooms.operators), ("integer", ORDERED));
    let from = criterion("home.let.apartment", "available_from").unwrap();
    assert_eq!((from.value_type.as_str(), from.operators), ("date", ORDERED));
    let pets = criterion("home.let.apartment", "pets").unwrap();
    assert_eq!(pets.operators, EQUAL);
    assert_eq!(pets.values, ["allowed", "negotiable", "not_allowed"]);
    let skills = criterion("work.candidate.software", "skills").unwrap();
    assert_eq!((skills.value_type.as_str(), skills.operators), ("string", EQUAL));
    assert!(criterion("work.job.software", "team").is_none(), "free text cannot be compared");
}

#[test]
fn every_category_can_be_selected_by_something() {
    for node in NODES.iter().filter(|node| !node.sides.is_empty()) {
        let criteria = about(node);
        let of_attributes = |criterion: &Criterion| criterion.source == Source::Attributes;
        assert!(criteria.iter().any(of_attributes), "{}", node.code);
        let is_described = |criterion: &Criterion| !criterion.description.is_empty();
        assert!(criteria.iter().all(is_described), "{}", node.code);
    }
}

#[test]
fn nothing_prohibited_or_near_it_can_be_selected_by() {
    let near = ["occupants", "guests", "needs_step_free"];
    for node in NODES.iter().filter(|node| node.policy.min_radius_km.is_some()) {
        for criterion in about(node) {
            let field = criterion.field.as_str();
            assert!(!node.policy.prohibited_criteria.contains(&field), "{}: {field}", node.code);
            assert!(!near.contains(&field), "{}: {field}", node.code);
        }
    }
    let seeker = criteria("home.rent.apartment");
    assert!(seeker.iter().any(|criterion| criterion.field == "has_pets"));
    let date = criteria("social.date");
    assert!(date.iter().any(|criterion| criterion.field == "age"), "dates may ask for an age");
}

#[test]
fn the_radius_has_its_floor_where_the_policy_says_so() {
    let text = |code| criterion(code, "distance_km").unwrap().description;
    assert!(text("home.rent.room").ends_with("Not less than 5."));
    assert!(!text("social.friend").contains("Not less"));
}
