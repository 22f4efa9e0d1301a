//! The capability `svc.phone-binding`: a person claims an agent with a code sent to a phone.
//!
//! The agent's own token is not enough for anything that others see: until a person has proved that
//! they hold a mobile number, the agent may only read. A number is stored sealed, and found by its
//! MAC; a code is stored as a MAC and is valid for one attempt of one agent.
//!
//! Strangers can ask for codes of any number, so each message also has a link, with which the person gets in
//! when messages and guesses are used up.

mod bind;
mod erasing;
mod intents;
mod limits;
mod links;
mod phone;
mod plans;
mod recycling;
mod refusals;
mod sending;
mod states;
mod text;
mod traffic;
mod types;

use limits::HOLD;
use people_kit::people::{self, ContactQuery};
use portolan_sdk::contract::messages::{self, Recipient, Unsent};
use portolan_sdk::contract::{AgentCaller, HostError, identity};
use portolan_sdk::{Tool, prelude::*, time::seconds};
use states::BIND;
use types::*;

const SCOPES: [&str; 3] = ["svc.read", "svc.write", "svc.events"];

/// The text of the host for an agent that its person has to approve.
const PASSKEY_REQUIRED: &str = "passkey required";

struct PhoneBinding;

/// Claim an agent for a person, by a code sent to their phone.
///
/// Reading needs no claim; every write does. Ask the person for their mobile number, `bind` it,
/// ask them for the code they received, and `verify` it. From then on the same token may write.
///
/// Each message also has a link for the phone that gets it. A person who opens it signs in, and can approve an agent by
/// the `approval_code` that `bind` returns. Somebody else may have used up the messages of the number: then `channel`
/// is `link`, no message is sent, and the links of the last day are valid again. Show the person the approval code, and
/// ask them to open the link in the last message from this host.
///
/// A person with passkeys approves every agent: `verify` answers `passkey_required`. Show them the approval
/// code, and ask them to open the page `/approve` of this host and to sign in there.
#[capability(
    id = "svc.phone-binding",
    consequence = portolan_sdk::Consequence::of("account"),
    title = "Phone binding", tags = ["identity", "claim"],
    collections = [AGENTS, BINDS, MESSAGES, APPROVALS, LINKS, NUMBERS, BLOCKS, OWNERS],
    state_machines = [BIND], roles = ["phone_verification"],
    tools = [Tool {
        name: "claim",
        title: "Claim this agent",
        description: "Claims this agent for a person, by a code that is sent to their mobile phone.\n\
            Use it before the first write: `bind` the number, ask the person for the code, `verify` it. To change \
            the number later, or to unbind the agent, use the other actions.",
        actions: &["bind", "verify", "resend", "status"],
        default: true,
    }]
)]
impl PhoneBinding {
    /// Send a code to a mobile number.
    ///
    /// If it is called again within half a minute for the same number, it returns the same attempt
    /// and sends nothing.
    #[action(access = open, example = json!({ "phone": "+12015550123" }), intents = intents::BIND)]
    fn bind(call: &Call, input: PhoneInput) -> Result<Answer<Sent>, BindError> {
        if call.require_agent()?.owner_id.is_some() {
            return Err(BindError::AlreadyClaimed);
        }
        Ok(with_next_step(bind::send(call, &input.phone.0, Purpose::Claim)?))
    }

    /// Claim the agent with the code that the person received.
    #[action(
        access = open, emits = [CLAIMED, LINKED, NUMBER_PROVED], example = json!({ "code": "424242" }),
        intents = intents::VERIFY
    )]
    fn verify(call: &Call, input: CodeInput) -> Result<Verified, BindError> {
        let caller = call.require_agent()?;
        let proved = bind::check(call, input.code.0.trim(), input.bind_id)?;
        match proved.value.purpose {
            Purpose::Claim => claim(caller, &proved.value),
            Purpose::Change => hold_change(call, caller, &proved.value),
        }
    }

    /// Send another code for the pending attempt.
    #[action(access = open, example = json!({}), intents = intents::RESEND)]
    fn resend(call: &Call, input: BindInput) -> Result<Answer<Sent>, BindError> {
        Ok(with_next_step(bind::resend(call, input.bind_id)?))
    }

    /// Get the state of the claim, and the pending attempt.
    #[action(access = open, idempotent, intents = intents::STATUS)]
    fn status(call: &Call) -> Result<BindStatus, BindError> {
        let caller = call.require_agent()?;
        let owner = find_owner(caller)?.map(|owner| owner.value);
        let next = owner.as_ref().and_then(|owner| owner.next.clone());
        let pending = match bind::pending(caller, None) {
            Ok(mut bind) => {
                bind.value.stage = bind.value.stage(call.now());
                let sent = bind::sent(&bind.id, &bind.value, caller);
                Some(view!(sent => Pending {
                    bind_id, state, allowed_actions, phone_masked, expires_at, attempts_left,
                    channel, approval_code;
                }))
            }
            Err(
                BindError::NoPendingBind { .. }
                | BindError::TooManyAttempts { .. }
                | BindError::SmsUndeliverable { .. },
            ) => None,
            Err(error) => return Err(error),
        };
        Ok(BindStatus {
            state: if caller.owner_id.is_some() { "claimed" } else { "anonymous" },
            phone_masked: owner.map(|owner| owner.masked).filter(|masked| !masked.is_empty()),
            pending,
            change: next
                .map(|next| Change { phone_masked: next.masked, effective_at: rfc3339(next.from) }),
        })
    }

    /// Send a code to the person's new number.
    ///
    /// The new number becomes valid a day after it is verified, and the old one is notified at
    /// once.
    #[action(
        access = write, example = json!({ "phone": "+12015550123" }),
        intents = intents::CHANGE
    )]
    fn change(call: &Call, input: PhoneInput) -> Result<Answer<Sent>, BindError> {
        if let Some(next) = owner(call.require_agent()?)?.value.next {
            let wait_s = seconds(next.from.saturating_sub(call.now()));
            return Err(BindError::ChangeOnHold { wait_s });
        }
        Ok(with_next_step(bind::send(call, &input.phone.0, Purpose::Change)?))
    }

    /// Cancel a pending change of the number.
    #[action(access = write, idempotent, intents = intents::CANCEL_CHANGE)]
    fn cancel_change(call: &Call) -> Result<State, BindError> {
        let mut owner = owner(call.require_agent()?)?;
        owner.value.next = None;
        OWNERS.save(&mut owner)?;
        timers::cancel(&timer(&owner.id))?;
        Ok(State { state: "claimed" })
    }

    /// Confirm that the person has proved their number themself.
    ///
    /// A number that nobody has proved for 90 days may belong to another person by now. Proving it then gives
    /// no access to the account; its agents get `identity.number_proved`. Ask the person whether it was them,
    /// and confirm only then: with another code, the new agent or browser gets in. Without a confirmation, a
    /// person who proves the number after a week gets it and an account of their own, and the owner keeps
    /// this account without a number.
    #[action(access = write, example = json!({}), intents = intents::CONFIRM_NUMBER)]
    fn confirm_number(call: &Call) -> Result<State, BindError> {
        recycling::confirm(call, &owner(call.require_agent()?)?)?;
        Ok(State { state: "claimed" })
    }

    /// Make the agent anonymous again: it can write nothing afterwards.
    ///
    /// If the person has no other agent, their listings are paused.
    #[action(
        access = write, destructive, emits = [UNCLAIMED], example = json!({ "confirm": true }),
        intents = intents::UNBIND
    )]
    fn unbind(call: &Call, input: Confirm) -> Result<State, BindError> {
        let caller = call.require_agent()?;
        if !input.confirm {
            let message = "The agent can write nothing afterwards. Send confirm: true to go on.";
            let question = "Shall I end this claim, so that I no longer act for you?";
            let confirm = Next::action(CAPABILITY, "unbind").ask("confirm", question);
            return Err(Refusal::common(ErrorCode::ConfirmRequired, message).next(confirm).into());
        }
        let owner_id = call.require_owner()?.to_owned();
        identity::unclaim()?;
        let agents_left = identity::owner(&owner_id)?.map_or(0, |person| person.agents);
        let data = Unclaim { agent_id: caller.agent_id.clone(), owner_id, agents_left };
        let subject = subject(&caller.agent_id);
        UNCLAIMED.publish(Audience::Agent(caller.agent_id.clone()), subject, &data)?;
        Ok(State { state: "anonymous" })
    }

    /// Return to another capability the number of a person who has disclosed it to somebody.
    #[action(access = internal, callers = ["pairings"], idempotent)]
    fn number(_call: &Call, input: ContactQuery) -> Result<people::Number, BindError> {
        let owner = OWNERS.get(&input.owner_id)?;
        let owner = owner.filter(|owner| !owner.value.sealed.is_empty());
        let number = owner.map(|owner| bind::number(&owner.value.sealed)).transpose()?;
        Ok(people::Number { number })
    }

    /// Make the new number valid.
    #[action(access = internal)]
    fn complete_change(_call: &Call, input: OwnerId) -> Result<(), BindError> {
        let Some(mut owner) = OWNERS.get(&input.owner_id)? else { return Ok(()) };
        let Some(next) = owner.value.next.take() else { return Ok(()) };
        match identity::rebind(&input.owner_id, &next.person_key) {
            Ok(()) => {
                owner.value.person_key = next.person_key;
                (owner.value.sealed, owner.value.masked) = (next.sealed, next.masked);
            }
            // Another person has claimed an agent with the number in the meantime.
            Err(HostError::Conflict) => log::warn!("a new number belongs to somebody else by now"),
            Err(error) => return Err(error.into()),
        }
        Ok(OWNERS.save(&mut owner)?)
    }

    /// Publish the claim of an agent that a person gave to an application, signed in with their
    /// number.
    #[action(access = internal, emits = [CLAIMED, LINKED])]
    fn adopted(_call: &Call, input: Adopted) -> Result<(), BindError> {
        Ok(notify(&input.agent_id, &input.owner_id, input.linked_existing)?)
    }

    /// Publish that a person has signed in with a browser, so that their agents can warn them of a sign-in that
    /// is not theirs.
    #[action(access = internal, emits = [SIGNED_IN])]
    fn signed_in(_call: &Call, input: NewSignIn) -> Result<(), BindError> {
        let NewSignIn { owner_id, browser, at } = input;
        let (audience, subject) = (Audience::Owner(owner_id.clone()), format!("owners/{owner_id}"));
        let data = SignIn {
            summary: "A browser was signed in as you.",
            owner_id,
            browser,
            signed_in_at: rfc3339(at),
        };
        Ok(SIGNED_IN.publish(audience, subject, &data)?)
    }

    /// Publish that a person has added or removed a passkey, so that their agents can warn them of a change that
    /// is not theirs.
    #[action(access = internal, emits = [PASSKEYS_CHANGED])]
    fn passkeys_changed(_call: &Call, input: NewPasskeys) -> Result<(), BindError> {
        let NewPasskeys { owner_id, change, at } = input;
        let (audience, subject) = (Audience::Owner(owner_id.clone()), format!("owners/{owner_id}"));
        let data = PasskeysChange {
            summary: "Your passkeys were changed.",
            owner_id,
            change,
            changed_at: rfc3339(at),
        };
        Ok(PASSKEYS_CHANGED.publish(audience, subject, &data)?)
    }

    /// End the codes, links and approvals of a person that are pending. The host does so when the person is
    /// signed out.
    #[action(access = internal, idempotent)]
    fn signed_out(_call: &Call, input: SignedOut) -> Result<(), BindError> {
        let Some(mut owner) = OWNERS.get(&input.owner_id)? else { return Ok(()) };
        owner.value.signed_out_at = owner.value.signed_out_at.max(input.at);
        Ok(OWNERS.save(&mut owner)?)
    }

    /// Tell a person by text message that their data is to be erased.
    #[action(access = internal, callers = ["data_rights"])]
    fn warn_of_erasure(call: &Call, input: ErasureWarning) -> Result<(), BindError> {
        erasing::warn(call, &input)
    }

    /// Set the time at which the record of a person's number is deleted.
    ///
    /// The host calls this when it erases the person, and again until it succeeds.
    #[action(access = internal, idempotent)]
    fn erased(call: &Call, input: PersonKey) -> Result<(), BindError> {
        erasing::forget_later(call, &input.person_key)
    }

    /// Forget a number of an erased person, unless it has a person again.
    #[action(access = internal, idempotent)]
    fn forget_number(_call: &Call, input: NumberId) -> Result<(), BindError> {
        erasing::forget(&input.id)
    }

    /// Show for which attempt a link was sent. The page of the link calls this; it changes nothing.
    #[action(access = internal, idempotent)]
    fn view_link(call: &Call, input: LinkSecret) -> Result<LinkView, BindError> {
        links::view(call, &input.secret.0)
    }

    /// Sign in the browser that has opened a link. The page of the link calls this, as the agent of the sign-in.
    #[action(access = internal, emits = [CLAIMED, LINKED, NUMBER_PROVED])]
    fn redeem_link(call: &Call, input: LinkSecret) -> Result<SignedIn, BindError> {
        let proved = links::redeem(call, &input.secret.0)?;
        let owner_id = claim(call.require_agent()?, &proved)?.owner_id;
        Ok(SignedIn { owner_id, phone_masked: proved.masked })
    }

    /// Find the agent that asked for a person's number and has this approval code.
    #[action(access = internal, idempotent)]
    fn find_attempt(call: &Call, input: Approval) -> Result<Candidate, BindError> {
        let bind = links::candidate(call, &input)?.value;
        let asked_at = rfc3339(bind.sent_at);
        Ok(Candidate { agent_id: bind.agent_id, agent_name: bind.name, asked_at })
    }

    /// Claim an agent for the person who has approved it. The page of the host calls this, as that agent.
    #[action(access = internal, emits = [CLAIMED, LINKED])]
    fn approve(call: &Call, input: Approval) -> Result<Verified, BindError> {
        let caller = call.require_agent()?;
        let bind = links::candidate(call, &input)?;
        if bind.value.agent_id != caller.agent_id || caller.owner_id.is_some() {
            return Err(BindError::AlreadyClaimed);
        }
        claim(caller, &bind::approve(call, bind)?)
    }

    /// Delete a link a day after its message.
    #[action(access = internal)]
    fn forget_link(_call: &Call, input: LinkId) -> Result<(), BindError> {
        links::forget(&input.id)
    }

    /// Delete an attempt a day after its last code.
    #[action(access = internal)]
    fn forget(_call: &Call, input: Attempt) -> Result<(), BindError> {
        bind::forget(&input.bind_id)
    }

    /// End an attempt whose message was not delivered.
    #[action(access = internal, on = "sms.undeliverable")]
    fn undeliverable(_call: &Call, event: Happened<Undeliverable>) -> Result<(), BindError> {
        bind::fail(&event.data.message_id)
    }
}

fn with_next_step(sent: Sent) -> Answer<Sent> {
    let next = match sent.channel {
        "sms" => refusals::ask_code(sent.bind_id.clone()),
        _ => refusals::status().after_s(refusals::APPROVAL_S),
    };
    Answer::new(sent).next(next)
}

fn subject(agent_id: &str) -> String {
    format!("agents/{agent_id}")
}

fn timer(owner_id: &str) -> String {
    format!("change/{owner_id}")
}

fn find_owner(caller: &AgentCaller) -> Result<Option<Stored<Owner>>> {
    Ok(caller.owner_id.as_ref().map(|owner_id| OWNERS.get(owner_id)).transpose()?.flatten())
}

fn owner(caller: &AgentCaller) -> Result<Stored<Owner>> {
    find_owner(caller)?.ok_or(BindError::NoPendingBind { claimed: true })
}

fn claim(caller: &AgentCaller, proved: &Bind) -> Result<Verified, BindError> {
    let person_key = bind::person_key(proved)?;
    let claimed = identity::claim(&person_key).map_err(|error| match error {
        HostError::Conflict => BindError::AlreadyClaimed,
        HostError::Invalid(text) if text == PASSKEY_REQUIRED => BindError::PasskeyRequired,
        HostError::Limit(_) => {
            let message = "This person has the maximum number of agents. Revoke one first.";
            Refusal::common(ErrorCode::NotPermitted, message).into()
        }
        error => error.into(),
    })?;
    match OWNERS.get(&claimed.owner_id)? {
        Some(owner) if proved.sent_at < owner.value.signed_out_at => {
            return Err(BindError::CodeExpired);
        }
        Some(_) => {}
        None => {
            let owner =
                view!(proved => Owner { sealed, masked; person_key, next: None, signed_out_at: 0 });
            OWNERS.put(&claimed.owner_id, &owner, Expect::Absent)?;
        }
    }
    let (agent_id, owner_id) = (caller.agent_id.clone(), claimed.owner_id);
    // A person who only signed in with the number has proved it, but has not claimed the agent.
    if identity::agents(&owner_id)?.iter().any(|agent| agent.agent_id == agent_id) {
        notify(&agent_id, &owner_id, claimed.linked_existing)?;
    }
    Ok(Verified {
        state: "claimed",
        agent_id,
        owner_id,
        linked_existing_owner: claimed.linked_existing,
        post_claim_scopes: SCOPES,
        effective_at: None,
    })
}

fn notify(agent_id: &str, owner_id: &str, linked_existing: bool) -> Result<(), HostError> {
    let data = Claim {
        summary: "An agent acts for you from now on.",
        agent_id: agent_id.to_owned(),
        owner_id: owner_id.to_owned(),
    };
    CLAIMED.publish(Audience::Agent(agent_id.to_owned()), subject(agent_id), &data)?;
    if linked_existing {
        LINKED.publish(Audience::Owner(owner_id.to_owned()), subject(agent_id), &data)?;
    }
    Ok(())
}

/// Stores a new number, and notifies the holder of the old one, who has a day to object.
fn hold_change(call: &Call, caller: &AgentCaller, proved: &Bind) -> Result<Verified, BindError> {
    let mut owner = owner(caller)?;
    let from = call.now() + HOLD;
    if !caller.test_mode && !owner.value.sealed.is_empty() {
        let text = "Your Portolan number is to be changed in 24 hours. If this was not you, tell your agent at once to keep this number.";
        let sent = messages::send(&bind::number(&owner.value.sealed)?, text, Recipient::Known);
        sent.map_err(|unsent| match unsent {
            Unsent::Later(wait_s) => BindError::SmsRateLimited { wait_s },
            Unsent::Destination => BindError::SmsUndeliverable { purpose: Purpose::Change },
            Unsent::Failed(error) => error.into(),
        })?;
    }
    let person_key = bind::person_key(proved)?;
    owner.value.next = Some(view!(proved => NextNumber { sealed, masked; person_key, from }));
    OWNERS.save(&mut owner)?;
    let input = OwnerId { owner_id: owner.id };
    timers::set(&timer(&input.owner_id), from, "complete_change", &input)?;
    Ok(Verified {
        state: "change_on_hold",
        agent_id: caller.agent_id.clone(),
        owner_id: input.owner_id,
        linked_existing_owner: true,
        post_claim_scopes: SCOPES,
        effective_at: Some(rfc3339(from)),
    })
}
