//! Reads the files of `taxonomy/` and expands them into one node per category.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Table;

/// One file: a root category with everything below it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    code: String,
    label: String,
    description: String,
    synonyms: Vec<String>,
    schema_org: SchemaOrg,
    /// The fields, other than attributes, that every listing below has and that criteria can use.
    criteria: Vec<String>,
    #[serde(default)]
    policy: Table,
    branch: Vec<Branch>,
    #[serde(default)]
    topic: Vec<Topic>,
}

/// A category written out in full. Its parent is its code without the last part.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Branch {
    code: String,
    label: String,
    description: String,
    synonyms: Vec<String>,
    #[serde(default)]
    sides: Vec<Side>,
    counterpart: Option<String>,
    schema_org: SchemaOrg,
    attributes: Option<String>,
    #[serde(default)]
    policy: Table,
    /// The label and the description of the topics below, with the placeholders `{topic}` and
    /// `{scope}`.
    topic_label: Option<String>,
    topic_description: Option<String>,
    /// Whether people who list here practise the occupations that the topics name.
    #[serde(default)]
    occupation: bool,
    #[serde(default)]
    isco08: Vec<Concept>,
    #[serde(default)]
    onet_soc: Vec<Concept>,
}

/// A leaf below one branch or, as two counterparts, below two.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Topic {
    name: String,
    below: Vec<String>,
    topic: String,
    scope: String,
    synonyms: Vec<String>,
    #[serde(default)]
    policy: Table,
    #[serde(default)]
    isco08: Vec<Concept>,
    #[serde(default)]
    onet_soc: Vec<Concept>,
    /// The differences below single branches.
    #[serde(default, rename = "in")]
    within: BTreeMap<String, Variation>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variation {
    schema_org: Option<SchemaOrg>,
    attributes: Option<String>,
    #[serde(default)]
    policy: Table,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Side {
    Offer,
    Demand,
}

/// How a concept of another scheme relates to the category.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Relation {
    Exact,
    Close,
    /// The concept is broader than the category.
    Broader,
    /// The concept is narrower than the category.
    Narrower,
}

/// The relation to a type of schema.org, and its name.
type SchemaOrg = (Relation, String);
/// The relation to an occupation, its code and its title.
pub(crate) type Concept = (Relation, String, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Policy {
    pub(crate) min_age: Option<u8>,
    pub(crate) prohibited_criteria: Vec<String>,
    pub(crate) required_disclosures: Vec<String>,
    pub(crate) default_ttl_days: u16,
    pub(crate) proposal_cost: u32,
    pub(crate) min_radius_km: Option<u16>,
    pub(crate) default_visibility: String,
}

/// Returns the policy of a category: its own values override those of the category above.
fn policy(above: &Table, own: &Table) -> Table {
    let mut all = above.clone();
    all.extend(own.clone());
    all
}

/// A category with all inherited values.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) code: String,
    pub(crate) label: String,
    pub(crate) description: String,
    pub(crate) synonyms: Vec<String>,
    /// The words of the category above, which distinguish the two sides of a topic.
    pub(crate) context: Vec<String>,
    pub(crate) sides: Vec<Side>,
    pub(crate) counterpart: Option<String>,
    pub(crate) schema_org: SchemaOrg,
    pub(crate) attributes: Option<String>,
    pub(crate) criteria: Vec<String>,
    policy: Table,
    pub(crate) isco08: Vec<Concept>,
    pub(crate) onet_soc: Vec<Concept>,
}

impl Node {
    /// Returns the policy with all inherited values.
    pub(crate) fn policy(&self) -> Result<Policy> {
        self.policy.clone().try_into().with_context(|| self.code.clone())
    }

    pub(crate) fn parent(&self) -> Option<&str> {
        self.code.rsplit_once('.').map(|(parent, _)| parent)
    }
}

/// Returns the nodes of one file in tree order: the root, then each branch with its topics.
pub(crate) fn nodes(file: File, defaults: &Table) -> Result<Vec<Node>> {
    let root = root(&file, defaults);
    let mut nodes: Vec<Node> = Vec::new();
    for branch in &file.branch {
        let parent = branch.code.rsplit_once('.').map_or("", |(parent, _)| parent);
        let above = nodes.iter().find(|node| node.code == parent).unwrap_or(&root);
        let node = from_branch(branch, above);
        let topics = file.topic.iter().filter(|topic| topic.below.contains(&branch.code));
        let leaves: Vec<Node> =
            topics.map(|topic| from_topic(topic, branch, &node)).collect::<Result<_>>()?;
        nodes.push(node);
        nodes.extend(leaves);
    }
    for topic in &file.topic {
        let known = |code: &String| file.branch.iter().any(|branch| branch.code == *code);
        if let Some(stray) = topic.below.iter().chain(topic.within.keys()).find(|code| !known(code))
        {
            bail!("topic {}: there is no branch {stray}", topic.name);
        }
    }
    nodes.insert(0, root);
    Ok(nodes)
}

fn root(file: &File, defaults: &Table) -> Node {
    Node {
        code: file.code.clone(),
        label: file.label.clone(),
        description: file.description.clone(),
        synonyms: file.synonyms.clone(),
        context: Vec::new(),
        sides: Vec::new(),
        counterpart: None,
        schema_org: file.schema_org.clone(),
        attributes: None,
        criteria: file.criteria.clone(),
        policy: policy(defaults, &file.policy),
        isco08: Vec::new(),
        onet_soc: Vec::new(),
    }
}

fn from_branch(branch: &Branch, above: &Node) -> Node {
    Node {
        code: branch.code.clone(),
        label: branch.label.clone(),
        description: branch.description.clone(),
        synonyms: branch.synonyms.clone(),
        context: above.synonyms.clone(),
        sides: branch.sides.clone(),
        counterpart: branch.counterpart.clone(),
        schema_org: branch.schema_org.clone(),
        attributes: branch.attributes.clone(),
        criteria: above.criteria.clone(),
        policy: policy(&above.policy, &branch.policy),
        isco08: branch.isco08.clone(),
        onet_soc: branch.onet_soc.clone(),
    }
}

fn from_topic(topic: &Topic, branch: &Branch, above: &Node) -> Result<Node> {
    let fill = |template: &Option<String>, what: &str| -> Result<String> {
        let template =
            template.as_ref().with_context(|| format!("{} needs {what}", branch.code))?;
        Ok(capitalised(&template.replace("{topic}", &topic.topic).replace("{scope}", &topic.scope)))
    };
    let variation = topic.within.get(&branch.code);
    let schema_org = variation.and_then(|variation| variation.schema_org.clone());
    let attributes = variation.and_then(|variation| variation.attributes.clone());
    let mut policy = policy(&above.policy, &topic.policy);
    policy.extend(variation.into_iter().flat_map(|variation| variation.policy.clone()));
    let occupations = |own: &[Concept], inherited: &[Concept]| match (branch.occupation, own) {
        (false, _) => Vec::new(),
        (true, []) => inherited
            .iter()
            .map(|(_, code, title)| (Relation::Broader, code.clone(), title.clone()))
            .collect(),
        (true, own) => own.to_vec(),
    };
    Ok(Node {
        code: format!("{}.{}", branch.code, topic.name),
        label: fill(&branch.topic_label, "topic_label")?,
        description: fill(&branch.topic_description, "topic_description")?,
        synonyms: topic.synonyms.iter().chain([&topic.topic, &topic.name]).cloned().collect(),
        context: branch.synonyms.clone(),
        sides: branch.sides.clone(),
        counterpart: branch.counterpart.as_ref().map(|code| format!("{code}.{}", topic.name)),
        schema_org: schema_org.unwrap_or_else(|| (Relation::Broader, branch.schema_org.1.clone())),
        attributes: attributes.or_else(|| branch.attributes.clone()),
        criteria: above.criteria.clone(),
        policy,
        isco08: occupations(&topic.isco08, &branch.isco08),
        onet_soc: occupations(&topic.onet_soc, &branch.onet_soc),
    })
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
