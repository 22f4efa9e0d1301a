//! The tree is consistent.
use super::*;
use std::collections::BTreeSet;

const PROTECTED: &str = "race colour religion sex orientation disability familial_status \
    national_origin age zip_only";

fn policy(code: &str) -> &'static Policy {
    &node(code).unwrap().policy
}

#[test]
fn codes_are_unique_and_well_formed() {
    let codes: BTreeSet<_> = NODES.iter().map(|node| node.code).collect();
    assert_eq!(codes.len(), NODES.len());
    for code in codes {
        let mut parts = code.split('.');
        let letters = |part: &str| part.bytes().all(|byte| byte.is_ascii_lowercase());
        assert!(parts.next().is_some_and(|root| !root.is_empty() && letters(root)), "{code}");
        for part in parts {
            assert!(!part.is_empty() && part.split('_').all(letters), "{code}");
        }
    }
}

#[test]
fn the_domain_s_categories_are_there() {
    let pairs = [
        ("work.job", "work.candidate"),
        ("home.let", "home.rent"),
        ("social.friend", "social.friend"),
        ("social.date", "social.date"),
        ("venture.cofounder", "venture.cofounder"),
        ("venture.raise", "venture.invest"),
        ("pro.lawyer", "pro.client.lawyer"),
        ("pro.service", "pro.client.service"),
        ("lead.general", "lead.general"),
    ];
    for (code, counterpart) in pairs {
        assert_eq!(node(code).unwrap().counterpart, Some(counterpart));
    }
    let roots: Vec<_> =
        NODES.iter().filter(|node| node.parent.is_none()).map(|node| node.code).collect();
    assert_eq!(roots, ["work", "home", "social", "venture", "pro", "lead"]);
}

#[test]
fn every_parent_exists_and_stands_before_its_children() {
    for (index, child) in NODES.iter().enumerate() {
        let Some(parent) = child.parent else { continue };
        let place = NODES.iter().position(|node| node.code == parent).unwrap();
        assert!(place < index, "{}", child.code);
        let inside = place + NODES[place].descendants;
        assert!(index <= inside, "{} is outside of {parent}", child.code);
        assert_eq!(depth(child.code), depth(parent) + 1);
    }
}

#[test]
fn counts_of_children_and_descendants_are_right() {
    for parent in &NODES {
        let children = NODES.iter().filter(|node| node.parent == Some(parent.code)).count();
        assert_eq!(usize::from(parent.children_count), children, "{}", parent.code);
        assert_eq!(parent.leaf, children == 0);
        let below = subtree(Some(parent.code)).unwrap();
        assert_eq!(below[0].code, parent.code);
        let prefix = format!("{}.", parent.code);
        assert!(below[1..].iter().all(|node| node.code.starts_with(&prefix)));
        let all = NODES.iter().filter(|node| node.code.starts_with(&prefix)).count();
        assert_eq!(below.len(), all + 1);
    }
}

#[test]
fn counterparts_are_mutual_and_mirror_the_tree() {
    for ours in NODES.iter().filter(|node| !node.sides.is_empty()) {
        let theirs = node(ours.counterpart.unwrap()).unwrap();
        assert_eq!(theirs.counterpart, Some(ours.code), "{}", ours.code);
        assert_eq!(theirs.leaf, ours.leaf);
        if ours.code != theirs.code {
            let opposite: Vec<_> = ours.sides.iter().map(|side| side.opposite()).collect();
            assert_eq!(theirs.sides, opposite, "{}", ours.code);
        }
        let above = ours.parent.and_then(node).filter(|above| !above.sides.is_empty());
        if let Some(above) = above {
            assert_eq!(above.counterpart, theirs.parent, "{}", ours.code);
        }
    }
}

#[test]
fn every_leaf_can_hold_a_listing() {
    for node in &NODES {
        let listable = !node.sides.is_empty();
        assert!(listable || !node.leaf, "{} has no sides", node.code);
        assert_eq!(node.attributes.is_some(), listable, "{}", node.code);
        assert_eq!(node.counterpart.is_some(), listable, "{}", node.code);
    }
}

#[test]
fn descriptions_say_the_side() {
    for node in NODES.iter().filter(|node| !node.sides.is_empty()) {
        let begins = match node.sides {
            [Side::Offer] => "Offer",
            [Side::Demand] => "Demand",
            _ => "Offer or demand",
        };
        assert!(node.description.starts_with(begins), "{}", node.code);
        assert!(!node.description.contains(['{', '}']) && !node.label.contains(['{', '}']));
    }
}

#[test]
fn fair_housing_and_employment_hold_everywhere_below() {
    for node in NODES.iter().filter(|node| ["work", "home"].iter().any(|root| within(node, root))) {
        assert_eq!(node.policy.prohibited_criteria.join(" "), PROTECTED, "{}", node.code);
        assert_eq!(node.policy.min_radius_km, Some(5));
    }
}

#[test]
fn social_listings_are_for_adults_and_never_public_by_default() {
    for node in &NODES {
        let social = within(node, "social");
        assert_eq!(node.policy.min_age, social.then_some(18), "{}", node.code);
        assert_eq!(node.policy.default_visibility == "network", social);
    }
}

#[test]
fn dates_are_never_public() {
    for node in &NODES {
        assert_eq!(node.policy.never_public, node.code == "social.date", "{}", node.code);
        assert_eq!(people_kit::taxonomy::is_never_public(node.code), node.policy.never_public);
        assert!(!node.policy.never_public || node.policy.default_visibility == "network");
    }
}

#[test]
fn only_dates_cost_more_than_one_credit() {
    for node in &NODES {
        let expected = if node.code == "social.date" { 2 } else { 1 };
        assert_eq!(node.policy.proposal_cost, expected, "{}", node.code);
    }
}

#[test]
fn policies_are_inherited_until_they_are_overridden() {
    let disclosures = |code| policy(code).required_disclosures;
    assert_eq!(disclosures("home.let.apartment"), disclosures("home.let"));
    assert_ne!(disclosures("home.let.short_stay"), disclosures("home.let"));
    assert!(disclosures("home.rent.short_stay").is_empty());
    assert_eq!(policy("home.let.apartment").default_ttl_days, 30);
    assert_eq!(policy("home.let.short_stay").default_ttl_days, 14);
    assert_eq!(policy("home.rent.short_stay").default_ttl_days, 14);
    assert_eq!(policy("pro.lawyer.immigration").default_ttl_days, 90);
    assert_eq!(policy("pro.client.lawyer.immigration").default_ttl_days, 30);
    assert_eq!(policy("social.date").min_age, Some(18));
}

#[test]
fn unknown_codes_lead_to_the_nearest_category() {
    assert!(node("work.job.softwear").is_none());
    assert_eq!(nearest("work.job.softwear"), Some("work.job"));
    assert_eq!(nearest("home.palace.tower"), Some("home"));
    assert_eq!(nearest("nonsense"), None);
    assert!(subtree(Some("nonsense")).is_none());
}

fn within(node: &Node, root: &str) -> bool {
    node.code.split('.').next() == Some(root)
}
