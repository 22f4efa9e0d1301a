//! The capability `agent_credits`: a ledger of the credits that outreach costs.
//!
//! Credits are not money: they limit how often people are approached. Every transaction takes from
//! one account what it gives to another. It is never changed in the journal; mistakes are corrected
//! by another transaction. Other capabilities hold credits with `hold`, and end the hold with
//! `capture` or `release` in the same call that decides the matter.

mod accounts;
mod codes;
mod draft;
mod holds;
mod intents;
mod journal;
mod states;
mod prices;
mod purse;
mod rules;
mod types;
mod views;

use portolan_sdk::prelude::*;
use purse::Purse;
use states::{ACCOUNT, HOLD};
use types::*;
use views::{AccountView, AccountViews, Balance, HoldView, Issued, Line, PriceList, Quote, Sum};

struct AgentCredits;

/// Credits that outreach costs: balance, statement, prices.
///
/// Credits limit how often people are approached; they are not money, and reading is free. A person
/// gets some with their first agent, and gets a top-up one day after the balance becomes low. The
/// price of an action is held when it is called, and then spent or refunded: `quote` says how much
/// and when. Each agent has an account; `transfer` moves credits between the agents of one person.
#[capability(
    id = "agent_credits",
    consequence = portolan_sdk::Consequence::of("payment"),
    title = "Agent credits", tags = ["credits", "limits"],
    invokes = [accounts::LIST_AGENTS, prices::CATEGORY],
    collections = [ACCOUNTS, PEOPLE, ENTRIES, HOLDS, CODES, REDEMPTIONS],
    state_machines = [ACCOUNT, HOLD]
)]
impl AgentCredits {
    /// Get the balance, and the time of the next top-up.
    ///
    /// It is the balance of the calling agent, or of another agent of the same person. For an agent
    /// that nobody has claimed, everything is 0, and `next` is the way to a claim.
    #[action(
        access = read, idempotent, example = WhichAgent::default(),
        intents = intents::BALANCE
    )]
    fn balance(call: &Call, input: WhichAgent) -> Result<Answer<Balance>, CreditsError> {
        let Some(owner_id) = call.owner_id() else {
            let agent_id = call.require_agent()?.agent_id.clone();
            let nothing = Balance {
                account: AccountView { agent_id, ..AccountView::default() },
                next_grant_at: None,
                person: Sum { available: 0, held: 0 },
                accounts: Vec::new(),
            };
            return Ok(Answer::new(nothing).next(Next::claim()));
        };
        Ok(Answer::new(accounts::balance(call, owner_id, input.agent_id)?))
    }

    /// List the transactions of an account, newest first.
    ///
    /// It is the account of the calling agent, or of another agent of the same person. Each
    /// transaction takes credits from one account and gives them to another; `balance_after` is the
    /// agent's available balance after it.
    #[action(
        access = read, idempotent, example = StatementInput::default(),
        intents = intents::STATEMENT
    )]
    fn statement(call: &Call, input: StatementInput) -> Result<Answer<Items<Line>>, CreditsError> {
        Items::own(call, |owner_id| accounts::statement(call, owner_id, input))
    }

    /// List the prices of actions, and the credits that a person gets.
    #[action(access = read, idempotent, intents = intents::PRICE_LIST)]
    fn price_list(_call: &Call) -> Result<PriceList, Infallible> {
        Ok(prices::list())
    }

    /// Get the price of a call.
    ///
    /// Give the capability and the body of the call, as a `next` names them. Calls outside the
    /// price list are free.
    #[action(
        access = read, idempotent,
        example = json!({
            "capability": "pairings", "input": { "action": "propose", "category": "social.date" },
        }),
        intents = intents::QUOTE
    )]
    fn quote(_call: &Call, input: QuoteInput) -> Result<Quote, CreditsError> {
        prices::quote(input)
    }

    /// Give credits to another agent of the same person.
    ///
    /// With `from_agent_id`, they are taken from another agent's account, such as that of a revoked
    /// agent.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("payment").about(&["to_agent_id"]).amount("amount"),
        emits = [GRANTED, LOW],
        example = json!({ "to_agent_id": "agt_01JZX8Q4M2N6P7R8S9T0V1W2X3", "amount": 5 }),
        intents = intents::TRANSFER
    )]
    fn transfer(call: &Call, input: TransferInput) -> Result<Answer<Line>, CreditsError> {
        Ok(Answer::new(accounts::transfer(call, input)?).next(read_balance()))
    }

    /// Redeem a code for credits.
    ///
    /// Each person can redeem a code once. After a few codes that cannot be redeemed, further
    /// attempts are refused for a while.
    #[action(
        access = write,
        consequence = portolan_sdk::Consequence::of("own"),
        emits = [GRANTED, LOW],
        example = json!({ "code": "7K2M-QX4D-9HTV-3B8N" }),
        intents = intents::REDEEM
    )]
    fn redeem(call: &Call, input: RedeemInput) -> Result<Answer<Line>, CreditsError> {
        let agent_id = &call.require_agent()?.agent_id;
        let purse = Purse::open(call, call.require_owner()?, agent_id)?;
        accounts::check_version(&purse.own.stored, input.expected_version)?;
        Ok(Answer::new(codes::redeem(call, purse, &input.code)?).next(read_balance()))
    }

    /// Hold credits.
    ///
    /// The same `ref` again returns the same hold in its current state, whatever the other fields
    /// say. End it with `capture` or `release`; it is released automatically after `ttl_s`.
    #[action(
        access = internal,
        consequence = portolan_sdk::Consequence::of("payment").amount("amount"),
        callers = ["applications", "intros", "pairings"], idempotent, emits = [GRANTED, LOW])]
    fn hold(call: &Call, input: HoldInput) -> Result<HoldView, CreditsError> {
        holds::hold(call, input)
    }

    /// Spend the credits of a hold.
    ///
    /// A repeated call changes nothing.
    #[action(
        access = internal,
        consequence = portolan_sdk::Consequence::of("payment"),
        callers = ["applications", "intros", "pairings"], idempotent, emits = [GRANTED, LOW])]
    fn capture(call: &Call, input: HoldId) -> Result<HoldView, CreditsError> {
        holds::capture(call, &input.hold_id)
    }

    /// Release the credits of a hold.
    ///
    /// A repeated call changes nothing.
    #[action(access = internal, callers = ["applications", "intros", "pairings"], idempotent, emits = [GRANTED, LOW, REFUNDED])]
    fn release(call: &Call, input: ReleaseInput) -> Result<HoldView, CreditsError> {
        holds::release(call, &input.hold_id, &input.reason)
    }

    /// Release a hold that has expired.
    #[action(access = internal, idempotent, emits = [GRANTED, LOW, REFUNDED])]
    fn expire(call: &Call, input: HoldId) -> Result<(), CreditsError> {
        holds::expire(call, &input.hold_id)
    }

    /// Give a person the top-up that is due.
    #[action(access = internal, idempotent, emits = [GRANTED, LOW])]
    fn top_up(call: &Call, input: OwnerId) -> Result<(), CreditsError> {
        accounts::top_up(call, &input.owner_id)
    }

    /// Make a code that people can redeem.
    #[action(access = internal)]
    fn issue_code(call: &Call, input: CodeInput) -> Result<Issued, CreditsError> {
        codes::issue(call, input)
    }

    /// Block every outgoing transaction of an agent's accounts.
    #[action(access = internal, idempotent)]
    fn freeze(_call: &Call, input: AgentId) -> Result<AccountViews, CreditsError> {
        accounts::change_state(&input.agent_id, "freeze")
    }

    /// Unfreeze an agent's accounts.
    #[action(access = internal, idempotent)]
    fn unfreeze(_call: &Call, input: AgentId) -> Result<AccountViews, CreditsError> {
        accounts::change_state(&input.agent_id, "unfreeze")
    }

    /// Open an account for an agent that a person has claimed.
    #[action(access = internal, idempotent, on = "identity.claimed", emits = [GRANTED, LOW])]
    fn on_claimed(call: &Call, event: Happened<Claim>) -> Result<(), CreditsError> {
        accounts::record_claim(call, &event.data.owner_id, &event.data.agent_id)
    }
}
