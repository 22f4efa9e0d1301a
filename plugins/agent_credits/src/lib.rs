//! The capability `agent_credits`: a ledger of the credits that outreach costs.
//!
//! Credits are no money: they ration how often people are approached. Every transaction takes from one
//! account what it gives to another, and stays in the journal for good; what is wrong is set right by
//! another transaction. Other capabilities set credits aside with `hold`, and end that with `capture`
//! or `release`, in the call that makes the one or the other true.

mod accounts;
mod codes;
mod draft;
mod holds;
mod journal;
mod life;
mod prices;
mod purse;
mod rules;
mod types;
mod views;

use life::{ACCOUNT, HOLD};
use portolan_sdk::prelude::*;
use purse::Purse;
use types::*;
use views::{AccountView, AccountViews, Balance, HoldView, Issued, Line, PriceList, Quote, Sum};

struct AgentCredits;

/// What outreach costs: balance, statement, prices.
///
/// Credits ration how often people are approached; they are no money, and reading is free. A person
/// gets some with their first agent, and is topped up a day after little is left. What an action costs
/// is held when it is called, and then spent or refunded: `quote` tells how much and when. Each agent
/// has an account; `transfer` moves credits between the agents of one person.
#[capability(
    id = "agent_credits",
    title = "Agent credits",
    tags = ["credits", "limits"],
    collections = [ACCOUNTS, PEOPLE, ENTRIES, HOLDS, CODES, REDEMPTIONS],
    state_machines = [ACCOUNT, HOLD]
)]
impl AgentCredits {
    /// See how many credits there are, and when more come.
    ///
    /// Of the calling agent, or of another one of the same person. For an agent that nobody has
    /// claimed, everything is 0, and `next` is the way to a claim.
    #[action(access = read, idempotent, example = WhichAgent::default())]
    fn balance(call: &Call, input: WhichAgent) -> Result<Answer<Balance>, CreditsError> {
        let Some(owner_id) = call.owner_id() else {
            let nothing = Balance {
                account: AccountView::of_nobody(&call.require_agent()?.agent_id),
                next_grant_at: None,
                person: Sum { available: 0, held: 0 },
                accounts: Vec::new(),
            };
            return Ok(Answer::new(nothing).next(Next::claim()));
        };
        Ok(Answer::new(accounts::balance(call, owner_id, input.agent_id)?))
    }

    /// List what came in and went out, newest first.
    ///
    /// Of the calling agent, or of another one of the same person. Each transaction takes from one
    /// account what it gives to another; `balance_after` is what the agent had available then.
    #[action(access = read, idempotent, example = StatementInput::default())]
    fn statement(call: &Call, input: StatementInput) -> Result<Answer<Items<Line>>, CreditsError> {
        Items::own(call, |owner_id| accounts::statement(call, owner_id, input))
    }

    /// List what costs credits, and what a person gets.
    #[action(access = read, idempotent)]
    fn price_list(_call: &Call) -> Result<PriceList, Infallible> {
        Ok(prices::list())
    }

    /// See what a call would cost.
    ///
    /// Give the capability and the body of the call, as a `next` names them. What is not in the price
    /// list is free.
    #[action(
        access = read, idempotent,
        example = QuoteInput {
            capability: "pairings".into(),
            input: Quoted { action: "propose".into(), category: Some("social.date".into()) },
        }
    )]
    fn quote(_call: &Call, input: QuoteInput) -> Result<Quote, CreditsError> {
        prices::quote(input)
    }

    /// Give credits to another agent of the same person.
    ///
    /// With `from_agent_id`, they are taken from another agent's account, such as that of one which
    /// was revoked.
    #[action(
        access = write, emits = [GRANTED, LOW],
        example = TransferInput {
            to_agent_id: "agt_01JZX8Q4M2N6P7R8S9T0V1W2X3".into(),
            from_agent_id: None,
            amount: 5,
            expected_version: None,
        }
    )]
    fn transfer(call: &Call, input: TransferInput) -> Result<Answer<Line>, CreditsError> {
        Ok(Answer::new(accounts::transfer(call, input)?).next(read_balance()))
    }

    /// Redeem a code for credits.
    ///
    /// Each person can redeem a code once. After a few that cannot be redeemed, no more are tried for
    /// a while.
    #[action(
        access = write, emits = [GRANTED, LOW],
        example = RedeemInput { code: "7K2M-QX4D-9HTV-3B8N".into(), expected_version: None }
    )]
    fn redeem(call: &Call, input: RedeemInput) -> Result<Answer<Line>, CreditsError> {
        let agent_id = &call.require_agent()?.agent_id;
        let purse = Purse::open(call, call.require_owner()?, agent_id)?;
        accounts::expect(&purse.own.stored, input.expected_version)?;
        Ok(Answer::new(codes::redeem(call, purse, &input.code)?).next(read_balance()))
    }

    /// Set credits aside.
    ///
    /// The same `ref` again answers the same hold in the state that it has by now, whatever the other
    /// fields say. End it with `capture` or `release`; after `ttl_s` it is released by itself.
    #[action(access = internal, idempotent, emits = [GRANTED, LOW])]
    fn hold(call: &Call, input: HoldInput) -> Result<HoldView, CreditsError> {
        holds::hold(call, input)
    }

    /// Spend what is held.
    ///
    /// Again, it changes nothing.
    #[action(access = internal, idempotent, emits = [GRANTED, LOW])]
    fn capture(call: &Call, input: HoldId) -> Result<HoldView, CreditsError> {
        holds::capture(call, &input.hold_id)
    }

    /// Give back what is held.
    ///
    /// Again, it changes nothing.
    #[action(access = internal, idempotent, emits = [GRANTED, LOW, REFUNDED])]
    fn release(call: &Call, input: ReleaseInput) -> Result<HoldView, CreditsError> {
        holds::release(call, &input.hold_id, &input.reason)
    }

    /// Release a hold that nobody ended in time.
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

    /// Let nothing out of an agent's accounts.
    #[action(access = internal, idempotent)]
    fn freeze(_call: &Call, input: AgentId) -> Result<AccountViews, CreditsError> {
        accounts::turn(&input.agent_id, "freeze")
    }

    /// Free an agent's accounts.
    #[action(access = internal, idempotent)]
    fn unfreeze(_call: &Call, input: AgentId) -> Result<AccountViews, CreditsError> {
        accounts::turn(&input.agent_id, "unfreeze")
    }

    /// Open an account for an agent that a person has claimed.
    #[action(access = internal, idempotent, on = "identity.claimed", emits = [GRANTED, LOW])]
    fn on_claimed(call: &Call, event: Happened<Claim>) -> Result<(), CreditsError> {
        accounts::claimed(call, &event.data.owner_id, &event.data.agent_id)
    }
}
