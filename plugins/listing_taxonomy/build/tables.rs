//! Writes the nodes and their mappings as Rust tables.

use crate::source::{Branch, Concept, Node, Policy, Relation};
use anyhow::Result;
use std::{collections::BTreeMap, fmt::Write};

pub(crate) fn nodes(nodes: &[Node], schemas: &BTreeMap<String, String>) -> Result<String> {
    let mut text = String::new();
    for (name, schema) in schemas {
        writeln!(text, "static {}: &str = {schema:?};", name.to_uppercase())?;
    }
    writeln!(text, "pub(crate) static NODES: [Node; {}] = [", nodes.len())?;
    for node in nodes {
        let Branch { code, label, description, synonyms, counterpart, .. } = &**node;
        let (parent, (_, schema_org)) = (node.parent(), &node.schema_org);
        let sides: Vec<_> = node.sides.iter().map(|side| format!("Side::{side:?}")).collect();
        let sides = sides.join(", ");
        let children = nodes.iter().filter(|other| other.parent() == Some(code)).count();
        let leaf = children == 0;
        let prefix = format!("{code}.");
        let below = nodes.iter().filter(|other| other.code.starts_with(&prefix)).count();
        let attributes = match &node.attributes {
            Some(name) => format!("Some({})", name.to_uppercase()),
            None => "None".to_owned(),
        };
        let policy = policy(code, node.policy()?);
        writeln!(
            text,
            "Node {{ code: {code:?}, label: {label:?}, description: {description:?}, \
             synonyms: &{synonyms:?}, parent: {parent:?}, sides: &[{sides}], \
             counterpart: {counterpart:?}, schema_org_type: {schema_org:?}, leaf: {leaf}, \
             children_count: {children}, descendants: {below}, attributes: {attributes}, \
             listing_criteria: &{:?}, policy: {policy} }},",
            node.criteria
        )?;
    }
    text.push_str("];\n\npub(crate) static MAPPINGS: &[Mapping] = &[\n");
    for node in nodes {
        mappings(&mut text, node)?;
    }
    text.push_str("];\n\n");
    Ok(text)
}

/// The file from which capabilities that show listings read the same rule.
const NEVER_PUBLIC: &str = include_str!("../../people_kit/src/never_public.txt");

fn policy(code: &str, policy: Policy) -> String {
    let is_within = |root: &str| {
        code.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let never_public = NEVER_PUBLIC.lines().filter(|line| !line.starts_with('#')).any(is_within);
    let Policy { min_age, prohibited_criteria, required_disclosures, default_ttl_days, .. } =
        &policy;
    let Policy { proposal_cost, min_radius_km, default_visibility, .. } = &policy;
    format!(
        "Policy {{ min_age: {min_age:?}, prohibited_criteria: &{prohibited_criteria:?}, \
         required_disclosures: &{required_disclosures:?}, default_ttl_days: {default_ttl_days}, \
         proposal_cost: {proposal_cost}, min_radius_km: {min_radius_km:?}, \
         default_visibility: {default_visibility:?}, never_public: {never_public} }}"
    )
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
        "Mapping {{ from: {from:?}, to: {to:?}, relation: Relation::{relation}, \
         scheme: Scheme::{scheme}, label: {label:?} }},"
    )
}
