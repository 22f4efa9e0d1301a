//! The prices of calls.

use crate::rules::{PRICES, TOP_UP_CEILING, TOP_UP_TO, WELCOME};
use crate::{types::*, views::*};
use portolan_sdk::prelude::*;

/// The part of the output of `listing_taxonomy` `get` that is read.
#[derive(Deserialize)]
pub(crate) struct Category {
    policy: Policy,
}

#[derive(Deserialize)]
struct Policy {
    proposal_cost: u32,
}

pub(crate) fn list() -> PriceList {
    let grants = Grants { welcome: WELCOME, top_up_to: TOP_UP_TO, top_up_ceiling: TOP_UP_CEILING };
    PriceList { items: PRICES.to_vec(), grants }
}

/// Returns the price of one call. If the price of the action depends on the category, the taxonomy
/// says what it is in this category.
pub(crate) fn quote(input: QuoteInput) -> Result<Quote> {
    let QuoteInput { capability, input: Quoted { action, category } } = input;
    let is_meant = |price: &&PriceItem| price.capability == capability && price.action == action;
    let mut prices = PRICES.iter().filter(is_meant);
    let Some(general) = prices.next() else {
        let (why, refund) = ("It is free.", "There is nothing to refund.");
        return Ok(Quote { capability, action, cost: 0, why, refund });
    };
    let special: Vec<_> = prices.collect();
    let cost = match category.filter(|_| !special.is_empty()) {
        Some(code) => proposal_cost(&code)?,
        None => general.cost,
    };
    let price = special.into_iter().find(|price| price.cost == cost).unwrap_or(general);
    Ok(Quote { capability, action, cost, why: price.why, refund: price.refund })
}

pub(crate) const CATEGORY: Invocation<Value, Category> = Invocation::new("listing_taxonomy", "get");

fn proposal_cost(code: &str) -> Result<u32> {
    match CATEGORY.call(&json!({ "code": code })) {
        Ok(category) => Ok(category.policy.proposal_cost),
        Err(refusal) if refusal.code == "category_unknown" => Err(CreditsError::CategoryUnknown),
        Err(refusal) => Err(refusal.into()),
    }
}
