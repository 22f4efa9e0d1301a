//! The taxonomy, as tables that the build makes from `taxonomy/`.

pub(crate) use people_kit::taxonomy::Side;
use portolan_sdk::prelude::*;

/// A category.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Node {
    /// The code, by which listings and other calls name the category.
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    /// The description, which says whether the listings are offers or demands.
    pub(crate) description: &'static str,
    /// Other words for it, by which searches find its listings.
    #[serde(skip)]
    pub(crate) synonyms: &'static [&'static str],
    /// The code of the category above; null at the top level.
    pub(crate) parent: Option<&'static str>,
    /// The sides a listing of this category can have; empty if the category only groups others.
    pub(crate) sides: &'static [Side],
    /// The counterpart: the category of the listings that are matched with those of this one. It
    /// may be the category itself.
    pub(crate) counterpart: Option<&'static str>,
    /// The name of its type in schema.org.
    pub(crate) schema_org_type: &'static str,
    /// Whether no category is below it.
    pub(crate) leaf: bool,
    /// The number of categories directly below.
    pub(crate) children_count: u16,
    /// The number of categories at any depth below; in the table they follow their parent.
    #[serde(skip)]
    pub(crate) descendants: usize,
    /// The JSON Schema of a listing's `attributes`.
    #[serde(skip)]
    pub(crate) attributes: Option<&'static str>,
    /// The fields of a listing, other than its attributes, that criteria can use.
    #[serde(skip)]
    pub(crate) listing_criteria: &'static [&'static str],
    #[serde(skip)]
    pub(crate) policy: Policy,
}

/// The rules for listings of a category.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Policy {
    /// The minimum age to list, see and contact; null if there is none.
    pub(crate) min_age: Option<u8>,
    /// Data that criteria, filters and scores may not use.
    pub(crate) prohibited_criteria: &'static [&'static str],
    /// Facts a listing must disclose.
    pub(crate) required_disclosures: &'static [&'static str],
    /// The number of days for which a listing is active by default.
    pub(crate) default_ttl_days: u16,
    /// The credits held for one proposal.
    pub(crate) proposal_cost: u32,
    /// The smallest radius of a search around a point; null if there is no minimum.
    pub(crate) min_radius_km: Option<u16>,
    /// The default visibility of a listing: `public` or `network`.
    pub(crate) default_visibility: &'static str,
    /// Whether listings are never public.
    pub(crate) never_public: bool,
}

/// Phrases that decide for a side below a category: what people say who have something, or look for
/// it.
#[derive(Debug)]
pub(crate) struct Direction {
    /// A top-level category.
    pub(crate) below: &'static str,
    pub(crate) side: Side,
    /// Phrases of whole words.
    pub(crate) words: &'static [&'static str],
    /// Phrases of a language without spaces.
    pub(crate) parts: &'static [&'static str],
}

/// Another classification.
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

/// One statement, read as `from` relation `to`.
#[output]
pub(crate) struct Mapping {
    /// A code of this taxonomy or of the other scheme. With `broadMatch`, the narrower of the two.
    pub(crate) from: &'static str,
    /// With `broadMatch`, the broader of the two.
    pub(crate) to: &'static str,
    pub(crate) relation: Relation,
    /// The other scheme.
    pub(crate) scheme: Scheme,
    /// The title of the code in the other scheme.
    pub(crate) label: Option<&'static str>,
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

pub(crate) fn node(code: &str) -> Option<&'static Node> {
    NODES.iter().find(|node| node.code == code)
}

/// Returns the code of the nearest existing category above an unknown code.
pub(crate) fn nearest(code: &str) -> Option<&'static str> {
    let (above, _) = code.rsplit_once('.')?;
    node(above).map(|node| node.code).or_else(|| nearest(above))
}

/// Returns a category and everything below it, in tree order; without a code, the whole taxonomy.
pub(crate) fn subtree(code: Option<&str>) -> Option<&'static [Node]> {
    let Some(code) = code else {
        return Some(&NODES);
    };
    let start = NODES.iter().position(|node| node.code == code)?;
    let from_start = NODES.get(start..)?;
    from_start.get(..=from_start.first()?.descendants)
}

/// Returns the depth of a code; the top level has depth 1.
pub(crate) fn depth(code: &str) -> usize {
    code.split('.').count()
}

/// Returns a category and those above it, the nearest first.
pub(crate) fn lineage(node: &'static Node) -> impl Iterator<Item = &'static Node> {
    std::iter::successors(Some(node), |node| self::node(node.parent?))
}

/// Returns the category and side of the counterpart; `None` if the category only groups others.
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
