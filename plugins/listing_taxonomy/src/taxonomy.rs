//! The categories and what is said of each, as tables that the build makes from `taxonomy/`.

pub(crate) use people_kit::taxonomy::Side;
use portolan_sdk::prelude::*;

/// A category.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Node {
    /// What listings and other calls name the category by.
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    /// Says which side a listing of the category is.
    pub(crate) description: &'static str,
    /// Other words for it, by which listings are found.
    #[serde(skip)]
    pub(crate) synonyms: &'static [&'static str],
    /// The code of the category above; null at the top level.
    pub(crate) parent: Option<&'static str>,
    /// The sides a listing of this category can have; empty if the category only groups others.
    pub(crate) sides: &'static [Side],
    /// The category that listings of this one meet; its own code if they meet each other.
    pub(crate) counterpart: Option<&'static str>,
    /// The name of a type of schema.org.
    pub(crate) schema_org_type: &'static str,
    /// True if there is no category below.
    pub(crate) leaf: bool,
    /// How many categories stand directly below.
    pub(crate) children_count: u16,
    /// How many categories stand below, at any depth; in the table they follow their parent.
    #[serde(skip)]
    pub(crate) descendants: usize,
    /// The JSON Schema of a listing's `attributes`.
    #[serde(skip)]
    pub(crate) attributes: Option<&'static str>,
    /// What a listing has beside its attributes and can be compared by.
    #[serde(skip)]
    pub(crate) listing_criteria: &'static [&'static str],
    #[serde(skip)]
    pub(crate) policy: Policy,
}

/// The rules for listings of a category.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Policy {
    /// How old a person has to be to list, see and contact; null if it does not matter.
    pub(crate) min_age: Option<u8>,
    /// What neither criteria nor filters nor scores may use.
    pub(crate) prohibited_criteria: &'static [&'static str],
    /// What every listing has to say.
    pub(crate) required_disclosures: &'static [&'static str],
    /// How long a listing stays active if it does not say.
    pub(crate) default_ttl_days: u16,
    /// Credits held for one proposal.
    pub(crate) proposal_cost: u32,
    /// The smallest radius that may be searched around a point; null if there is no floor.
    pub(crate) min_radius_km: Option<u16>,
    /// Who sees a listing that does not say: `public`, or `network`.
    pub(crate) default_visibility: &'static str,
}

/// A classification that crosswalks lead to.
#[choice]
pub(crate) enum Scheme {
    Esco,
    Isco08,
    OnetSoc,
    SchemaOrg,
}

/// A mapping property of SKOS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) enum Relation {
    #[serde(rename = "exactMatch")]
    Exact,
    #[serde(rename = "closeMatch")]
    Close,
    #[serde(rename = "broadMatch")]
    Broad,
}

/// One statement, read `from` relation `to`.
#[output]
pub(crate) struct Mapping {
    /// A code of this taxonomy or of the other scheme. With `broadMatch`, the narrower of the two.
    pub(crate) from: &'static str,
    /// With `broadMatch`, the broader of the two.
    pub(crate) to: &'static str,
    pub(crate) relation: Relation,
    /// The scheme of the code that is not ours.
    pub(crate) scheme: Scheme,
    /// The other scheme's title of its code.
    pub(crate) label: Option<&'static str>,
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

pub(crate) fn node(code: &str) -> Option<&'static Node> {
    NODES.iter().find(|node| node.code == code)
}

/// The code of the nearest category that exists above a code that does not.
pub(crate) fn nearest(code: &str) -> Option<&'static str> {
    let (above, _) = code.rsplit_once('.')?;
    node(above).map(|node| node.code).or_else(|| nearest(above))
}

/// A category and everything below it, in tree order; without a code, the whole taxonomy.
pub(crate) fn subtree(code: Option<&str>) -> Option<&'static [Node]> {
    let Some(code) = code else {
        return Some(&NODES);
    };
    let start = NODES.iter().position(|node| node.code == code)?;
    let from_start = NODES.get(start..)?;
    from_start.get(..=from_start.first()?.descendants)
}

/// The top level has depth 1.
pub(crate) fn depth(code: &str) -> usize {
    code.split('.').count()
}

/// A category and those above it, from the nearest.
pub(crate) fn lineage(node: &'static Node) -> impl Iterator<Item = &'static Node> {
    std::iter::successors(Some(node), |node| self::node(node.parent?))
}

/// The category and side of the listings that one of this category and side meets; none if the
/// category only groups others.
pub(crate) fn counterpart(node: &Node, side: Side) -> Option<(&'static Node, Side)> {
    let counterpart = self::node(node.counterpart?)?;
    let side = match counterpart.sides {
        [only] => *only,
        _ => side.opposite(),
    };
    Some((counterpart, side))
}

#[cfg(test)]
mod tests;
