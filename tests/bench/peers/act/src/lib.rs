//! Adds up an order, as `alpha` of tests/guests/template does.

use act_sdk::prelude::*;
use serde::Serialize;

#[derive(Deserialize, JsonSchema)]
struct Line {
    #[schemars(length(min = 1, max = 60))]
    article: String,
    #[schemars(range(min = 1, max = 1000))]
    quantity: u32,
    /// Cents.
    price: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// The person who orders.
    #[schemars(length(min = 1, max = 60))]
    customer: String,
    #[schemars(length(max = 100))]
    lines: Vec<Line>,
}

#[derive(Serialize)]
struct Receipt {
    customer: String,
    articles: u32,
    /// Cents.
    total: u64,
    dearest: String,
}

#[act_component]
mod component {
    use super::*;

    #[act_tool(description = "Add up", read_only, idempotent)]
    fn add_up(#[args] order: Order) -> ActResult<Json<Receipt>> {
        let dearest = order.lines.iter().max_by_key(|line| line.price);
        let dearest = dearest.ok_or_else(|| ActError::invalid_args("the order is empty"))?;
        Ok(Json(Receipt {
            articles: order.lines.iter().map(|line| line.quantity).sum(),
            total: order
                .lines
                .iter()
                .map(|line| u64::from(line.quantity) * u64::from(line.price))
                .sum(),
            dearest: dearest.article.clone(),
            customer: order.customer,
        }))
    }
}
