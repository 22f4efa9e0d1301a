//! The capability `mutant`: keeps orders. A number in the component switches one of its faults on, so that a test
//! makes a faulty version of the same source by replacing the number.

use portolan_sdk::{
    documents::Direction,
    events::{Audience, Event},
    prelude::*,
    timers,
};
use std::hint::black_box;

/// `00` is without a fault; so are numbers above those that this file asks for.
static FAULT: &str = "mutation:00";

const ORDERS: Collection<Order> =
    Collection::new("orders").index("quantity", &["quantity"]).nobody();

const ORDERED: Event<Ordered> = Event::new("mutant.ordered");

/// How long after its order something is due.
const DUE_MS: u64 = 3_600_000;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    item: String,
    quantity: u32,
    cents: u32,
    note: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Ordered {
    order: String,
    quantity: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct NewOrder {
    order: String,
    item: String,
    quantity: u32,
    note: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct OrderId {
    order: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Amount {
    quantity: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Most {
    most: u32,
}

#[derive(Serialize, JsonSchema)]
struct Price {
    cents: u32,
}

#[derive(Serialize, JsonSchema)]
struct Shown {
    item: String,
    quantity: u32,
    cents: u32,
    note: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Orders {
    orders: Vec<String>,
}

#[derive(Refusals)]
enum MutantError {
    /// There is no such order.
    #[refusal(not_found)]
    OrderNotFound,
    /// There is an order of this id already.
    #[refusal(conflict)]
    OrderExists,
    /// Nothing of this quantity can be ordered.
    #[refusal(conflict)]
    NothingOrdered,
    #[refusal(transparent)]
    Common(Refusal),
}

fn has(fault: u32) -> bool {
    black_box(FAULT).trim_start_matches("mutation:").parse() == Ok(fault)
}

/// Returns the price of a quantity in cents: 250 for each, and a tenth less from the tenth on.
fn price(quantity: u32) -> u32 {
    let each = if has(1) { 255 } else { 250 };
    let full = quantity * each;
    let from = if has(2) { 11 } else { 10 };
    if quantity >= from { full - full / 10 } else { full }
}

struct Mutant;

/// Keeps orders, sometimes badly.
#[capability(id = "mutant", title = "Mutant", tags = ["test"], collections = [ORDERS])]
impl Mutant {
    /// Order something.
    #[action(access = write, emits = [ORDERED])]
    #[expect(clippy::panic, reason = "it is one of the faults")]
    fn order(call: &Call, input: NewOrder) -> Result<Price, MutantError> {
        let NewOrder { order, item, quantity, note } = input;
        if quantity == 0 && !has(3) {
            return Err(MutantError::NothingOrdered);
        }
        if has(4) && quantity > 8 {
            return Err(MutantError::NothingOrdered);
        }
        if has(5) && note.is_some() {
            panic!("a note");
        }
        let cents = price(quantity);
        let stored = Order {
            item: if has(6) { item.to_uppercase() } else { item },
            quantity: if has(7) { quantity + 1 } else { quantity },
            cents,
            note: note.filter(|_| !has(8)),
        };
        let expect = if has(9) { Expect::Any } else { Expect::Absent };
        if !has(10) {
            ORDERS.put(&order, &stored, expect).on_conflict(MutantError::OrderExists)?;
        }
        let after_ms = if has(11) { DUE_MS / 2 } else { DUE_MS };
        if !has(12) {
            let due = OrderId { order: order.clone() };
            timers::set(&order, call.now() + after_ms, "due", &due)?;
        }
        let subject = if has(13) { "orders".to_owned() } else { format!("orders/{order}") };
        let told = Ordered { order, quantity };
        if !has(14) {
            ORDERED.publish(Audience::Capabilities, subject.clone(), &told)?;
        }
        if has(15) {
            ORDERED.publish(Audience::Capabilities, subject, &told)?;
        }
        Ok(Price { cents })
    }

    /// Read an order.
    #[action(access = read, idempotent)]
    fn get(_call: &Call, input: OrderId) -> Result<Shown, MutantError> {
        let id = if has(16) { input.order.to_uppercase() } else { input.order };
        let Order { item, quantity, cents, note } =
            ORDERS.get(&id)?.ok_or(MutantError::OrderNotFound)?.value;
        let note = if has(17) { note.map(|note| note + " ") } else { note };
        Ok(Shown { item, quantity, cents, note })
    }

    /// List orders, the largest first.
    #[action(access = read, idempotent)]
    fn list(_call: &Call, input: Most) -> Result<Orders, MutantError> {
        let query = Query::new().order_by("quantity", Direction::Descending).limit(input.most);
        let hits = ORDERS.find(query)?.hits.into_iter();
        let mut orders: Vec<_> = hits.map(|hit| hit.document.id).collect();
        if has(18) {
            orders.pop();
        }
        Ok(Orders { orders })
    }

    /// Withdraw an order.
    #[action(access = write, idempotent)]
    fn withdraw(_call: &Call, input: OrderId) -> Result<NoOutput, MutantError> {
        if ORDERS.get(&input.order)?.is_none() && !has(19) {
            return Err(MutantError::OrderNotFound);
        }
        ORDERS.delete(&input.order, Expect::Any)?;
        if !has(20) {
            timers::cancel(&input.order)?;
        }
        Ok(NoOutput {})
    }

    /// Ask what a quantity costs.
    #[action(access = read, idempotent)]
    fn quote(_call: &Call, input: Amount) -> Result<Price, MutantError> {
        Ok(Price { cents: price(input.quantity) })
    }

    /// Take note that an order is due.
    #[action(access = internal)]
    fn due(_call: &Call, input: OrderId) -> Result<NoOutput, MutantError> {
        ORDERS.get(&input.order)?.ok_or(MutantError::OrderNotFound)?;
        Ok(NoOutput {})
    }
}
