//! Reads the files of `taxonomy/` and expands them into one node per category.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Table;

/// One file: a root category, which is the first branch, with everything below it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// The fields, other than attributes, that every listing below has and that criteria can use.
    criteria: Vec<String>,
    /// The policy of the root category.
    #[serde(default)]
    policy: Table,
    branch: Vec<Branch>,
    #[serde(default)]
    topic: Vec<Topic>,
}

/// A category written out in full. Its parent is its code without the last part.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Branch {
    pub(crate) code: String,
    pub(crate) label: String,
    pub(crate) description: String,
    pub(crate) synonyms: Vec<String>,
    #[serde(default)]
    pub(crate) sides: Vec<Side>,
    pub(crate) counterpart: Option<String>,
    pub(crate) schema_org: SchemaOrg,
    pub(crate) attributes: Option<String>,
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
    pub(crate) isco08: Vec<Concept>,
    #[serde(default)]
    pub(crate) onet_soc: Vec<Concept>,
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

/// The relation of a concept of another scheme to the category.
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
    category: Branch,
    /// The words of the category above, which distinguish the two sides of a topic.
    pub(crate) context: Vec<String>,
    pub(crate) criteria: Vec<String>,
    policy: Table,
}

impl std::ops::Deref for Node {
    type Target = Branch;

    fn deref(&self) -> &Branch {
        &self.category
    }
}

impl Node {
    /// Returns the policy with all inherited values.
    pub(crate) fn policy(&self) -> Result<Policy> {
        self.policy.clone().try_into().with_context(|| self.code.clone())
    }
}

impl Branch {
    pub(crate) fn parent(&self) -> Option<&str> {
        self.code.rsplit_once('.').map(|(parent, _)| parent)
    }
}

/// Returns the nodes of one file in tree order: each branch with its topics.
pub(crate) fn nodes(file: File, defaults: &Table) -> Result<Vec<Node>> {
    let root_policy = policy(defaults, &file.policy);
    let mut nodes: Vec<Node> = Vec::new();
    for branch in &file.branch {
        let above = nodes.iter().find(|node| Some(node.code.as_str()) == branch.parent());
        let node = Node {
            context: above.map(|above| above.synonyms.clone()).unwrap_or_default(),
            criteria: file.criteria.clone(),
            policy: policy(above.map_or(&root_policy, |above| &above.policy), &branch.policy),
            category: branch.clone(),
        };
        let topics = file.topic.iter().filter(|topic| topic.below.contains(&branch.code));
        let leaves: Vec<Node> =
            topics.map(|topic| from_topic(topic, branch, &node)).collect::<Result<_>>()?;
        nodes.push(node);
        nodes.extend(leaves);
    }
    for topic in &file.topic {
        let known = |code: &String| file.branch.iter().any(|branch| branch.code == *code);
        let mut named = topic.below.iter().chain(topic.within.keys());
        if let Some(stray) = named.find(|code| !known(code)) {
            bail!("topic {}: there is no branch {stray}", topic.name);
        }
    }
    Ok(nodes)
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
    let broader = |(_, code, title): &Concept| (Relation::Broader, code.clone(), title.clone());
    let occupations = |own: &[Concept], inherited: &[Concept]| match (branch.occupation, own) {
        (false, _) => Vec::new(),
        (true, []) => inherited.iter().map(broader).collect(),
        (true, own) => own.to_vec(),
    };
    let category = Branch {
        code: format!("{}.{}", branch.code, topic.name),
        label: fill(&branch.topic_label, "topic_label")?,
        description: fill(&branch.topic_description, "topic_description")?,
        synonyms: topic.synonyms.iter().chain([&topic.topic, &topic.name]).cloned().collect(),
        counterpart: branch.counterpart.as_ref().map(|code| format!("{code}.{}", topic.name)),
        schema_org: schema_org.unwrap_or_else(|| (Relation::Broader, branch.schema_org.1.clone())),
        attributes: attributes.or_else(|| branch.attributes.clone()),
        isco08: occupations(&topic.isco08, &branch.isco08),
        onet_soc: occupations(&topic.onet_soc, &branch.onet_soc),
        ..branch.clone()
    };
    let (context, criteria) = (branch.synonyms.clone(), above.criteria.clone());
    Ok(Node { category, context, criteria, policy })
}

fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    first.chain(rest).collect()
}
