//! A well-behaved component whose names have fixed lengths: tests and benchmarks replace them in
//! the binary to make many components, or one that describes itself wrongly.

use portolan_sdk::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Order {
    /// The customer who orders.
    #[schemars(length(min = 1, max = 60))]
    customer: String,
    #[schemars(length(max = 100))]
    lines: Vec<Line>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Line {
    #[schemars(length(min = 1, max = 60))]
    article: String,
    #[schemars(range(min = 1, max = 1000))]
    quantity: u32,
    /// Cents.
    price: u32,
}

#[derive(Serialize, JsonSchema)]
pub struct Receipt {
    customer: String,
    articles: u32,
    /// Cents.
    total: u64,
    dearest: Option<String>,
}

#[derive(Refusals)]
enum OrderError {
    /// An order needs at least one line.
    #[refusal(unprocessable, next = Next::call("template_000").field("action", "alpha"))]
    OrderEmpty,
}

/// Does the work of `alpha`, which benchmarks also run outside a sandbox. Returns `None` for an
/// empty order.
pub fn add_up(order: Order) -> Option<Receipt> {
    let dearest = order.lines.iter().max_by_key(|line| line.price)?;
    Some(Receipt {
        articles: order.lines.iter().map(|line| line.quantity).sum(),
        total: order
            .lines
            .iter()
            .map(|line| u64::from(line.quantity) * u64::from(line.price))
            .sum(),
        dearest: Some(dearest.article.clone()),
        customer: order.customer,
    })
}

pub struct Template;

/// Adds up an order.
#[capability(id = "template_000", version = "1.2.0", title = "Template")]
impl Template {
    /// Add up.
    #[action(access = read, idempotent, example = Order { customer: "Ada".into(), lines: vec![] })]
    fn alpha(_call: &Call, input: Order) -> Result<Receipt, OrderError> {
        add_up(input).ok_or(OrderError::OrderEmpty)
    }

    /// Say who would order.
    #[action(access = write)]
    fn bravo(_call: &Call, input: Order) -> Result<Receipt, OrderError> {
        Ok(Receipt { customer: input.customer, articles: 0, total: 0, dearest: None })
    }

    /// Only other capabilities can call this action.
    #[action(access = internal)]
    fn hidden(_call: &Call) -> Result<Receipt, Infallible> {
        Ok(Receipt { customer: String::new(), articles: 0, total: 0, dearest: None })
    }

    /// Only agents with the scope `svc.events` can call this action.
    #[action(access = events)]
    fn listen(_call: &Call) -> Result<Receipt, Infallible> {
        Ok(Receipt { customer: String::new(), articles: 0, total: 0, dearest: None })
    }
}
