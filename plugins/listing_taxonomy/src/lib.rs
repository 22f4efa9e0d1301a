//! The capability `listing_taxonomy`: the categories of listings.

mod attributes;
mod check;
mod criteria;
mod crosswalk;
mod directions;
mod intents;
mod keys;
mod messages;
mod narrow;
mod protected;
mod search;
mod taxonomy;
mod validate;
mod words;

use messages::{
    Category, CrosswalkInput, Fields, FieldsInput, Found, FoundNodes, GetInput, Mappings,
    SearchInput, SuggestInput, Suggestion, Suggestions, Tree, TreeInput,
};
use people_kit::taxonomy::{
    CheckInput, Checked, HighlightInput, Highlighted, NarrowInput, Narrowed, TaxonomyError,
};
use portolan_sdk::{Tool, prelude::*};
use search::{Hit, Scope};
use taxonomy::{Node, Side};

/// The only language of labels and descriptions.
const LOCALE: &str = "en";

fn unknown(code: &str) -> TaxonomyError {
    TaxonomyError::CategoryUnknown { nearest: taxonomy::nearest(code).map(str::to_owned) }
}

fn known(code: &str) -> Result<&'static Node, TaxonomyError> {
    taxonomy::node(code).ok_or_else(|| unknown(code))
}

fn tree() -> Next {
    Next::action("listing_taxonomy", "tree")
}

/// Makes the refusal of a category that only groups others; its next step lists them.
fn grouping(node: &Node, pointer: &str) -> Refusal {
    let below = taxonomy::subtree(Some(node.code)).into_iter().flatten();
    let listable = below.filter(|node| !node.sides.is_empty());
    let codes: Vec<_> = listable.map(|node| node.code).collect();
    Refusal::validation(pointer, "enum", codes).next(tree().field("root", node.code))
}

/// Makes the refusal of a side that the category does not have.
fn wrong_side(node: &Node) -> Refusal {
    Refusal::validation("/side", "enum", portolan_sdk::to_value(node.sides))
        .next(Next::action("listing_taxonomy", "get").field("code", node.code))
}

/// The capability.
pub struct ListingTaxonomy;

/// The categories of listings: their meaning, their counterparts and the fields of their listings.
///
/// A listing belongs to one category and has a side: an `offer` (a job, a home to let, a lawyer, a
/// service, a company that raises money) or a `demand` (a candidate, a home wanted, a client, an
/// investor). The category's description says which. It is matched with listings of the
/// `counterpart`. Friends, dates and cofounders are their own counterpart and have one side,
/// `demand`: any two can be matched. General leads are their own counterpart with two sides: an
/// offer is matched with a demand.
///
/// Choose a leaf if one fits, else the category above it. A listing is matched with listings of its
/// counterpart, and of the categories above and below that. Categories without sides only group
/// others.
///
/// Typical order: `suggest` with the person's words, `get` for the rules, `fields` for what to fill
/// in, then `agent_listings`. Each category has a policy, inherited from the one above: who may
/// take part, which characteristics nobody may select by, and what a listing must disclose.
///
/// `crosswalk` maps to ESCO, ISCO-08, O*NET-SOC 2019 and schema.org. It includes codes and titles
/// from the O*NET Database by the U.S. Department of Labor, Employment and Training Administration
/// (USDOL/ETA), used under the CC BY 4.0 license; from ISCO-08 by the International Labour
/// Organization; and from ESCO of the European Commission.
#[capability(
    id = "listing_taxonomy",
    title = "Listing taxonomy",
    tags = ["listings", "categories", "policy", "schema", "reference"],
    tools = [
        Tool {
            name: "fields",
            title: "Categories and fields of listings",
            description: "Find the category that fits a text, and the fields, criteria and rules of its listings.\n\
                Use it to prepare a listing or the filters of a search. For the rules of a category use \
                its action `get`; to find listings themselves use `agent_listings` `search`.",
            actions: &["suggest", "fields"],
            default: true,
        },
    ]
)]
impl ListingTaxonomy {
    /// List the categories.
    ///
    /// Returns the whole taxonomy or the part below one category, as a flat list in tree order. If
    /// you know what you are looking for, use `suggest` or `search`.
    #[action(
        access = read, idempotent,
        example = json!({ "depth": 2 }),
        example = json!({ "root": "home", "depth": 1, "locale": "en" }),
        intents = intents::TREE
    )]
    fn tree(_call: &Call, input: TreeInput) -> Result<Tree, TaxonomyError> {
        let root = input.root.as_deref();
        let depth = usize::from(input.depth);
        let deepest = root.map_or(depth.max(1), |root| taxonomy::depth(root) + depth);
        let nodes = taxonomy::subtree(root).ok_or_else(|| unknown(root.unwrap_or_default()))?;
        let nodes = nodes.iter().filter(|node| taxonomy::depth(node.code) <= deepest).collect();
        Ok(Tree { locale: LOCALE, nodes })
    }

    /// Get a category and its policy.
    ///
    /// Returns one category with the rules for its listings: minimum age, what neither criteria nor
    /// filters may use, what the text must disclose, lifetime, price of a proposal.
    #[action(
        access = read, idempotent, example = json!({ "code": "home.let.apartment" }),
        intents = intents::GET
    )]
    fn get(_call: &Call, input: GetInput) -> Result<Answer<Category>, TaxonomyError> {
        let node = known(&input.code)?;
        let answer = Answer::new(Category { node, policy: &node.policy });
        Ok(match node.sides {
            [] => answer.next(tree().field("root", node.code)),
            [side, ..] => answer.next(fields_of(node, *side)),
        })
    }

    /// Search the categories.
    ///
    /// Searches the words of label, synonyms and description, in any inflection (`designers` finds
    /// design). For a person's own sentence, use `suggest`.
    #[action(
        access = read, idempotent, example = json!({ "q": "nurse", "limit": 20 }),
        intents = intents::SEARCH
    )]
    fn search(_call: &Call, input: SearchInput) -> Result<FoundNodes, Infallible> {
        let hits = search::rank(&input.q, Scope::Every, input.limit.into()).into_iter();
        let items = hits.map(|hit| Found { node: hit.node, score: points(hit.score) });
        Ok(FoundNodes { items: items.collect() })
    }

    /// Suggest categories for a text.
    ///
    /// Ranks the categories that fit a listing with this text. Give the side if you know it: the
    /// same flat is `home.let.apartment` for its landlord and `home.rent.apartment` for somebody
    /// who looks for it.
    #[action(
        access = read, idempotent,
        example = json!({
            "text": "two bedroom flat near the park, no pets", "side": "offer", "limit": 5,
        }),
        intents = intents::SUGGEST
    )]
    fn suggest(_call: &Call, input: SuggestInput) -> Result<Answer<Suggestions>, Infallible> {
        let hits = search::rank(&input.text, Scope::Listable(input.side), input.limit.into());
        let best = hits.first().and_then(|Hit { node, .. }| {
            let side = input.side.or(node.sides.first().copied())?;
            Some(fields_of(node, side))
        });
        let suggestion = |Hit { node, score, matched }| {
            let score = points(score);
            view!(node => Suggestion { code, label; score, matched_terms: matched })
        };
        let items = hits.into_iter().map(suggestion).collect();
        Ok(Answer::new(Suggestions { items }).next(best.unwrap_or_else(tree)))
    }

    /// Get the fields of a listing.
    ///
    /// Returns the JSON Schema for the `attributes` of a listing of this category and side, and the
    /// criteria that it can have for its counterparts. Call it before you create or search
    /// listings.
    #[action(
        access = read, idempotent, example = json!({ "code": "work.job.software", "side": "offer" }),
        intents = intents::FIELDS
    )]
    fn fields(_call: &Call, input: FieldsInput) -> Result<Answer<Fields>, TaxonomyError> {
        let node = known(&input.code)?;
        listable(node, input.side, "/code")?;
        let fields = fields(node, input.side).ok_or_else(|| grouping(node, "/code"))?;
        let listing = Next::action("agent_listings", "create")
            .field("category", node.code)
            .field("side", portolan_sdk::to_value(&input.side))
            .ask("attributes", "Which of these attributes does the listing have?")
            .ask("title", "What is the title of the listing?")
            .ask(
                "description",
                "What should the listing say, and with which title and attributes?",
            );
        Ok(Answer::new(fields).next(listing))
    }

    /// Translate codes to and from other classifications.
    ///
    /// Each mapping is one statement, read as `from` relation `to` in SKOS terms, and is found by
    /// either code. `broadMatch` means that `to` is the broader of the two.
    #[action(
        access = read, idempotent,
        example = json!({ "scheme": "isco08", "code": "2512" }),
        example = json!({ "code": "work.job.design" }),
        intents = intents::CROSSWALK
    )]
    fn crosswalk(_call: &Call, input: CrosswalkInput) -> Result<Mappings, TaxonomyError> {
        let code = input.code.as_deref();
        let items = crosswalk::mappings(input.scheme, code);
        Ok(Mappings { items: items.ok_or_else(|| unknown(code.unwrap_or_default()))? })
    }

    /// Check a listing against its category, and return its normal form.
    #[action(access = internal, callers = ["agent_listings", "matching_sessions"], idempotent)]
    fn check(call: &Call, input: CheckInput) -> Result<Checked, TaxonomyError> {
        let node = known(&input.code)?;
        listable(node, input.side, "/category")?;
        check::listing(node, input, &rfc3339(call.now()))
    }

    /// Turn a search's filters into comparisons of the keys that `check` returns.
    #[action(access = internal, callers = ["agent_listings", "matching_sessions", "owners", "saved_searches"], idempotent)]
    fn narrow(_call: &Call, input: NarrowInput) -> Result<Narrowed, TaxonomyError> {
        let node = input.code.as_deref().map(known).transpose()?;
        input.without.iter().try_for_each(|code| known(code).map(drop))?;
        narrow::search(node, &input)
    }

    /// Find the words of texts that match a search.
    #[action(access = internal, callers = ["agent_listings"], idempotent)]
    fn highlight(_call: &Call, input: HighlightInput) -> Result<Highlighted, TaxonomyError> {
        Ok(Highlighted { texts: listing_answers::highlights(&input.q, &input.texts) })
    }
}

/// Ensures that the category can have a listing of this side.
fn listable(node: &Node, side: Side, pointer: &str) -> Result<(), Refusal> {
    match node.sides {
        [] => Err(grouping(node, pointer)),
        sides if !sides.contains(&side) => Err(wrong_side(node)),
        _ => Ok(()),
    }
}

/// Returns the fields; `None` if the category only groups others.
fn fields(node: &'static Node, side: Side) -> Option<Fields> {
    let (counterpart, counterpart_side) = taxonomy::counterpart(node, side)?;
    Some(Fields {
        code: node.code,
        side,
        counterpart: counterpart.code,
        counterpart_side,
        attributes: attributes::schema(node.attributes?),
        criteria: criteria::about(counterpart),
    })
}

fn fields_of(node: &Node, side: Side) -> Next {
    Next::action("listing_taxonomy", "fields")
        .field("code", node.code)
        .field("side", portolan_sdk::to_value(&side))
}

fn points(thousandths: u32) -> f64 {
    f64::from(thousandths) / 1000.0
}

#[cfg(test)]
mod tests;
