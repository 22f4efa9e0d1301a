//! Writes the nodes and their mappings as Rust tables.

use crate::source::{Concept, Node, Relation};
use anyhow::{Context, Result};
use std::{collections::BTreeMap, fmt::Write};

pub(crate) fn nodes(nodes: &[Node], schemas: &BTreeMap<String, String>) -> Result<String> {
    let mut text = String::new();
    for (name, schema) in schemas {
        writeln!(text, "static {}: &str = {schema:?};", name.to_uppercase())?;
    }
    writeln!(text, "pub(crate) static NODES: [Node; {}] = [", nodes.len())?;
    for node in nodes {
        let below = nodes.iter().filter(|other| other.code.starts_with(&format!("{}.", node.code)));
        let children = nodes.iter().filter(|other| other.parent() == Some(&node.code)).count();
        let attributes = match &node.attributes {
            Some(name) => format!("Some({})", name.to_uppercase()),
            None => "None".to_owned(),
        };
        let policy = node.policy()?;
        writeln!(
            text,
            "Node {{ code: {:?}, label: {:?}, description: {:?}, synonyms: &{:?}, parent: {:?}, sides: &{}, \
             counterpart: {:?}, schema_org_type: {:?}, leaf: {}, children_count: {children}, \
             descendants: {}, attributes: {attributes}, listing_criteria: &{:?}, policy: Policy {{ \
             min_age: {:?}, prohibited_criteria: &{:?}, required_disclosures: &{:?}, \
             default_ttl_days: {}, proposal_cost: {}, min_radius_km: {:?}, default_visibility: {:?} }} }},",
            node.code,
            node.label,
            node.description,
            node.synonyms,
            node.parent(),
            variants("Side", node.sides.iter().map(|side| format!("{side:?}"))),
            node.counterpart,
            node.schema_org.1,
            children == 0,
            below.count(),
            node.criteria,
            policy.min_age,
            policy.prohibited_criteria,
            policy.required_disclosures,
            policy.default_ttl_days,
            policy.proposal_cost,
            policy.min_radius_km,
            policy.default_visibility,
        )
        .context("writing a node")?;
    }
    text.push_str("];\n\npub(crate) static MAPPINGS: &[Mapping] = &[\n");
    for node in nodes {
        mappings(&mut text, node).context("writing the mappings")?;
    }
    text.push_str("];\n\n");
    Ok(text)
}

fn variants(type_name: &str, names: impl Iterator<Item = String>) -> String {
    let list: Vec<String> = names.map(|name| format!("{type_name}::{name}")).collect();
    format!("[{}]", list.join(", "))
}

/// Writes the mappings of a node. ESCO uses the groups of ISCO-08, so its addresses follow from
/// ISCO's codes.
fn mappings(text: &mut String, node: &Node) -> std::fmt::Result {
    for concept in &node.isco08 {
        let (relation, code, title) = concept;
        let esco = (*relation, format!("http://data.europa.eu/esco/isco/C{code}"), title.clone());
        mapping(text, node, "Esco", &esco)?;
        mapping(text, node, "Isco08", concept)?;
    }
    for concept in &node.onet_soc {
        mapping(text, node, "OnetSoc", concept)?;
    }
    let (relation, name) = &node.schema_org;
    mapping(text, node, "SchemaOrg", &(*relation, name.clone(), String::new()))
}

fn mapping(text: &mut String, node: &Node, scheme: &str, concept: &Concept) -> std::fmt::Result {
    let (relation, foreign, title) = concept;
    let (from, to, relation) = match relation {
        Relation::Exact => (&node.code, foreign, "Exact"),
        Relation::Close => (&node.code, foreign, "Close"),
        Relation::Broader => (&node.code, foreign, "Broad"),
        Relation::Narrower => (foreign, &node.code, "Broad"),
    };
    let label = (!title.is_empty()).then_some(title);
    writeln!(
        text,
        "Mapping {{ from: {from:?}, to: {to:?}, relation: Relation::{relation}, scheme: Scheme::{scheme}, label: {label:?} }},"
    )
}
