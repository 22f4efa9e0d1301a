//! Inputs, stored documents, events and refusals.

use crate::rules::{LONGEST_HOLD_S, MOST};
use crate::states::*;
use portolan_sdk::documents::Person as Named;
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "agent_credits";

/// The accounts, keyed by the ids of the agent and the person: an agent that another person claims
/// later gets another account.
pub(crate) const ACCOUNTS: Collection<Account> = Collection::new("accounts")
    .people(&[Named::delete("$id"), Named::delete("owner_id"), Named::delete("agent_id")])
    .index("owner", &["owner_id"])
    .index("agent", &["agent_id", "claimed_at"]);
/// The data that all accounts of a person share, keyed by the owner's id.
pub(crate) const PEOPLE: Collection<Person> =
    Collection::new("people").people(&[Named::delete("$id"), Named::delete("agent_id")]);
/// The journal: the numbered transactions of each account. Only the erasure of a person changes or
/// removes entries.
pub(crate) const ENTRIES: Collection<Entry> = Collection::new("entries")
    .people(&[
        Named::delete("$id"),
        Named::delete("account"),
        Named::redact("debit", &[]),
        Named::redact("credit", &[]),
    ])
    .index("account", &["account", "number", "at"]);
/// The holds, keyed by their ids.
pub(crate) const HOLDS: Collection<Hold> = Collection::new("holds")
    .people(&[Named::delete("account"), Named::delete("owner_id"), Named::delete("agent_id")])
    .unique("reference", &["account", "reference"]);
/// The codes, keyed by their MACs.
pub(crate) const CODES: Collection<Code> = Collection::new("codes").nobody();
/// The redemptions, keyed by the ids of the code and the owner.
pub(crate) const REDEMPTIONS: Collection<Redemption> =
    Collection::new("redemptions").people(&[Named::delete("$id"), Named::delete("agent_id")]);

/// The person got credits: the welcome, a top-up, or a code.
pub(crate) const GRANTED: Event<Data<Granted>> = Event::new("credits.granted");
/// The person's balance is low.
pub(crate) const LOW: Event<Data<Low>> = Event::new("credits.low");
/// Held credits were released.
pub(crate) const REFUNDED: Event<Data<Refunded>> = Event::new("credits.refunded");

#[derive(Clone, Serialize)]
pub(crate) struct Granted {
    pub(crate) agent_id: String,
    pub(crate) kind: Kind,
    pub(crate) amount: u64,
    /// The available credits of the person, in all accounts together.
    pub(crate) balance: u64,
}

#[derive(Serialize)]
pub(crate) struct Low {
    /// The available credits of the person, in all accounts together.
    pub(crate) balance: u64,
    /// When the next top-up is due (RFC 3339).
    pub(crate) next_grant_at: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct Refunded {
    pub(crate) agent_id: String,
    pub(crate) hold_id: String,
    #[serde(rename = "ref")]
    pub(crate) reference: String,
    pub(crate) reason: String,
    pub(crate) amount: u64,
    /// The available credits of the person, in all accounts together.
    pub(crate) balance: u64,
}

/// An account. All stored times are milliseconds since the Unix epoch.
#[document(Default, PartialEq)]
pub(crate) struct Account {
    pub(crate) agent_id: String,
    pub(crate) owner_id: String,
    pub(crate) state: AccountState,
    /// When the person last claimed the agent; when the account was created, if no claim is known.
    pub(crate) claimed_at: u64,
    pub(crate) available: u64,
    pub(crate) held: u64,
    pub(crate) lifetime_in: u64,
    pub(crate) lifetime_out: u64,
    /// The number of the account's entries in the journal.
    pub(crate) entries: u64,
}

#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Person {
    pub(crate) available: u64,
    pub(crate) held: u64,
    /// The agent that gets the next top-up: the one for which credits were last held, or else the
    /// person's first agent.
    pub(crate) agent_id: String,
    /// When the next top-up is due; only while its timer runs.
    pub(crate) next_grant_at: Option<u64>,
    /// Whether the person was notified of the low balance.
    pub(crate) low_told: bool,
    /// When the person tried codes that could not be redeemed.
    pub(crate) wrong_codes: Vec<u64>,
}

#[choice]
pub(crate) enum Kind {
    Welcome,
    TopUp,
    Code,
    Hold,
    Capture,
    Release,
    Transfer,
}

/// A transaction in the journal of one account. A transfer is in two journals.
#[derive(Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) account: String,
    /// The number of the entry in its journal, from 1.
    pub(crate) number: u64,
    pub(crate) txn_id: String,
    pub(crate) at: u64,
    pub(crate) kind: Kind,
    pub(crate) debit: String,
    pub(crate) credit: String,
    pub(crate) amount: u64,
    pub(crate) reference: Option<String>,
    pub(crate) balance_after: u64,
    pub(crate) held_after: u64,
}

#[document]
#[entity(
    kind = "hold", collection = HOLDS,
    not_found = CreditsError::missing("There is no such hold.")
)]
pub(crate) struct Hold {
    /// The account's id.
    pub(crate) account: String,
    pub(crate) agent_id: String,
    pub(crate) owner_id: String,
    pub(crate) reference: String,
    pub(crate) amount: u64,
    pub(crate) state: HoldState,
    pub(crate) expires_at: u64,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Code {
    pub(crate) amount: u64,
    pub(crate) uses_left: u32,
    pub(crate) expires_at: Option<u64>,
    /// A note of the issuer for their own use.
    pub(crate) note: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Redemption {
    pub(crate) agent_id: String,
    pub(crate) at: u64,
}

#[input(Default)]
pub(crate) struct WhichAgent {
    /// Another agent of the same person; without it, the calling agent.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) agent_id: Option<String>,
}

#[input(Default)]
pub(crate) struct StatementInput {
    /// Another agent of the same person; without it, the calling agent.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) agent_id: Option<String>,
    /// A time (RFC 3339): only transactions from then on are returned.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) since: Option<String>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

/// A call, as a `next` describes it.
#[input]
pub(crate) struct QuoteInput {
    /// The capability that would be called.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) capability: String,
    /// The body that it would be called with.
    pub(crate) input: Quoted,
}

/// The part of a call's body that prices depend on. The rest is ignored.
#[input]
pub(crate) struct Quoted {
    /// The action that would be called.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) action: String,
    /// The category of the listing: a code of `listing_taxonomy`.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) category: Option<String>,
}

#[input]
pub(crate) struct TransferInput {
    /// The agent that receives the credits: another agent of the same person.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) to_agent_id: String,
    /// The agent that gives the credits, also an agent of the same person; without it, the calling
    /// agent. It may be an agent that the person no longer has.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) from_agent_id: Option<String>,
    /// The number of credits.
    #[schemars(range(min = 1, max = MOST))]
    pub(crate) amount: u64,
    /// The version of the giving account that was read. If the account has changed since then, the
    /// call is refused.
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct RedeemInput {
    /// The code, in upper or lower case, with or without hyphens.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) code: String,
    /// The version of the account that was read. If the account has changed since then, the call is
    /// refused.
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct HoldInput {
    /// The agent whose credits are held; without it, the calling agent.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) agent_id: Option<String>,
    #[schemars(range(min = 1, max = MOST))]
    pub(crate) amount: u64,
    /// The purpose of the hold, such as `pairing:pair_…`. An account has at most one hold for each.
    #[serde(rename = "ref")]
    #[schemars(length(min = 1, max = 128))]
    pub(crate) reference: String,
    /// The seconds after which it is released automatically.
    #[schemars(range(min = 1, max = LONGEST_HOLD_S))]
    pub(crate) ttl_s: u32,
}

#[input]
pub(crate) struct HoldId {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) hold_id: String,
}

#[input]
pub(crate) struct ReleaseInput {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) hold_id: String,
    /// The reason, as a word for programs, such as `accepted`.
    #[schemars(length(max = 40), regex(pattern = "^[a-z]+(_[a-z]+)*$"))]
    pub(crate) reason: String,
}

#[input]
pub(crate) struct CodeInput {
    /// The credits that each person gets.
    #[schemars(range(min = 1, max = MOST))]
    pub(crate) amount: u64,
    /// The number of people who may redeem it.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) uses: u32,
    /// When it expires (RFC 3339); without it, it does not expire.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) expires_at: Option<String>,
    /// The purpose of the code, stored with it.
    #[schemars(length(max = 200))]
    pub(crate) note: Option<String>,
}

#[input]
pub(crate) struct AgentId {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) agent_id: String,
}

#[input]
pub(crate) struct OwnerId {
    pub(crate) owner_id: String,
}

/// The data of `identity.claimed`.
#[input]
pub(crate) struct Claim {
    pub(crate) agent_id: String,
    pub(crate) owner_id: String,
}

/// The price of an action.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct PriceItem {
    pub(crate) capability: &'static str,
    pub(crate) action: &'static str,
    /// The category that the price applies to, with all categories below it; null for all others.
    pub(crate) category: Option<&'static str>,
    /// The price in credits.
    pub(crate) cost: u32,
    pub(crate) why: &'static str,
    /// When the price is refunded.
    pub(crate) refund: &'static str,
}

#[derive(Refusals)]
pub(crate) enum CreditsError {
    /// This code cannot be redeemed.
    #[refusal(not_found, keep_writes, next = ask_code())]
    CodeNotRedeemable,
    /// Too many codes could not be redeemed. Wait before you try another.
    #[refusal(too_many, retryable, next = ask_code().after_s(wait_s))]
    TooManyAttempts { wait_s: u32 },
    /// There is no category with this code.
    #[refusal(not_found, next = Next::action("listing_taxonomy", "tree"))]
    CategoryUnknown,
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) type Result<T, E = CreditsError> = std::result::Result<T, E>;

impl CreditsError {
    pub(crate) fn insufficient(required: u64, available: u64, next_grant_at: Option<u64>) -> Self {
        let shortage = json!({
            "kind": "credits", "required": required, "available": available,
            "next_grant_at": next_grant_at.map(rfc3339),
        });
        let message = "This account has not enough credits.";
        Self::refused(Refusal::common(ErrorCode::InsufficientCredits, message).conflict(&shortage))
    }

    pub(crate) fn frozen() -> Self {
        let message = "This account is frozen: nothing leaves it until the operator unfreezes it.";
        // `reports list_mine` returns the reasons of the decision and the way to appeal.
        let decisions = Next::action("reports", "list_mine").field("role", "affected");
        Self::Common(Refusal::common(ErrorCode::AccountFrozen, message).next(decisions))
    }

    pub(crate) fn missing(message: &str) -> Self {
        Self::refused(Refusal::common(ErrorCode::NotFound, message))
    }

    /// Returns the refusal with the balance as its next step.
    pub(crate) fn refused(refusal: Refusal) -> Self {
        Self::Common(refusal.next(read_balance()))
    }
}

pub(crate) fn read_balance() -> Next {
    Next::action(CAPABILITY, "balance")
}

pub(crate) fn read_statement(agent_id: &str) -> Next {
    Next::action(CAPABILITY, "statement").field("agent_id", agent_id)
}

fn ask_code() -> Next {
    Next::action(CAPABILITY, "redeem").ask("code", "Which code may I redeem?")
}
