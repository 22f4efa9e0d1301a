//! Attempts: codes are sent and checked.

use crate::limits::{CHECKS, LIFETIME, NUMBER_SENDS, RESEND_INTERVAL, count_guess, guess_wait};
use crate::links::approval_code;
use crate::phone::{Phone, PhoneError, Scenario, TEST_CODE, parse, scenario};
use crate::{recycling, sending::dispatch, states::*, traffic::Prefixes, types::*};
use people_kit::hex;
use portolan_sdk::contract::AgentCaller;
use portolan_sdk::{prelude::*, secrets, time::seconds};

/// Sends a code to a number, unless the agent's last code was sent to this number for the same
/// purpose within the last half minute.
pub(crate) fn send(call: &Call, number: &str, purpose: Purpose) -> Result<Sent> {
    let caller = call.require_agent()?;
    let phone = parse(number).map_err(|unfit| match unfit {
        PhoneError::Invalid => BindError::PhoneInvalid { purpose },
        PhoneError::NotAllowed => BindError::PhoneNotAllowed { purpose },
    })?;
    let scenario = scenario(&phone.e164);
    match (caller.test_mode, scenario) {
        (true, Some(Scenario::Undeliverable)) => {
            return Err(BindError::SmsUndeliverable { purpose });
        }
        (true, Some(Scenario::RateLimited)) => {
            return Err(BindError::SmsRateLimited { wait_s: seconds(RESEND_INTERVAL) });
        }
        (true, Some(Scenario::NotAllowed) | None) | (false, Some(_)) => {
            return Err(BindError::PhoneNotAllowed { purpose });
        }
        (true, Some(_)) | (false, None) => {}
    }
    let now = call.now();
    let number_id = number_id(call, caller, &phone)?;
    let mut agent = AGENTS.get_or_default(&caller.agent_id)?;
    let last = match &agent.value.bind_id {
        Some(id) => BINDS.get(id)?.filter(|bind| bind.value.stage == Stage::CodeSent),
        None => None,
    };
    if let Some(mut last) = last {
        let is_same = last.value.number == number_id && last.value.purpose == purpose;
        if is_same && last.value.sent_at + RESEND_INTERVAL > now {
            return Ok(sent(&last.id, &last.value, caller));
        }
        last.value.stage = BIND.step(&last.id, last.value.stage(now), purpose.action())?;
        BINDS.save(&mut last)?;
    }
    let locks_at_once = caller.test_mode && scenario == Some(Scenario::LocksAtOnce);
    let mut bind = Bind {
        agent_id: caller.agent_id.clone(),
        purpose,
        stage: Stage::CodeSent,
        number: number_id,
        sealed: hex::encode(&secrets::seal(phone.e164.as_bytes())?),
        masked: phone.masked.clone(),
        code_mac: String::new(),
        sent_at: now,
        expires_at: now + LIFETIME,
        checks_left: if locks_at_once { 1 } else { CHECKS },
        message_id: None,
        by_link: false,
        name: None,
    };
    let id = call.new_id("bnd");
    dispatch(call, caller, &id, &mut bind, &phone, &mut agent.value)?;
    agent.value.bind_id = Some(id.clone());
    AGENTS.save(&mut agent)?;
    BINDS.put(&id, &bind, Expect::Absent)?;
    APPROVALS.put(&approval_code(&id), &Attempt { bind_id: id.clone() }, Expect::Any)?;
    Ok(sent(&id, &bind, caller))
}

/// Sends a new code for a pending attempt.
pub(crate) fn resend(call: &Call, bind_id: Option<String>) -> Result<Sent> {
    let caller = call.require_agent()?;
    let mut bind = pending(caller, bind_id)?;
    let mut agent = AGENTS.get_or_default(&caller.agent_id)?;
    let phone = parse(&number(&bind.value.sealed)?).map_err(|_unfit| no_pending_bind())?;
    let id = bind.id.clone();
    bind.value.stage = BIND.step(&id, bind.value.stage(call.now()), "resend")?;
    dispatch(call, caller, &id, &mut bind.value, &phone, &mut agent.value)?;
    AGENTS.save(&mut agent)?;
    BINDS.save(&mut bind)?;
    Ok(sent(&id, &bind.value, caller))
}

/// Ends an attempt whose message was not delivered, unless a later message was sent.
pub(crate) fn fail(message_id: &str) -> Result<()> {
    let Some(message) = MESSAGES.get(message_id)? else { return Ok(()) };
    if let Some(mut bind) = BINDS.get(&message.value.bind_id)?
        && bind.value.stage == Stage::CodeSent
        && bind.value.message_id.as_deref() == Some(message_id)
    {
        bind.value.stage = BIND.step(&bind.id, bind.value.stage, "undeliverable")?;
        BINDS.save(&mut bind)?;
    }
    Ok(MESSAGES.delete(message_id, Expect::Any)?)
}

/// Deletes an attempt, with its phone number.
pub(crate) fn forget(bind_id: &str) -> Result<()> {
    let Some(bind) = BINDS.get(bind_id)? else { return Ok(()) };
    if let Some(message_id) = &bind.value.message_id {
        MESSAGES.delete(message_id, Expect::Any)?;
    }
    APPROVALS.delete(&approval_code(bind_id), Expect::Any)?;
    Ok(BINDS.delete(bind_id, Expect::Any)?)
}

/// Returns the attempt, verified and saved, if the code is right. Otherwise counts a wrong code and
/// refuses.
pub(crate) fn check(call: &Call, code: &str, bind_id: Option<String>) -> Result<Stored<Bind>> {
    let (caller, now) = (call.require_agent()?, call.now());
    let mut bind = pending(caller, bind_id)?;
    if bind.value.stage(now) == Stage::Expired {
        return Err(BindError::CodeExpired);
    }
    if bind.value.by_link {
        return Err(BindError::NoCodeSent);
    }
    let (purpose, claimed) = (bind.value.purpose, caller.owner_id.is_some());
    let missing = || BindError::NoPendingBind { claimed };
    let mut record = NUMBERS.get(&bind.value.number)?.ok_or_else(missing)?;
    if let Some(wait) = guess_wait(&mut record.value, now) {
        return Err(BindError::TooManyAttempts { purpose, wait_s: seconds(wait) });
    }
    let verified = |stage| BIND.step_to(&bind.id, bind.value.stage, "verify", stage);
    let (right, wrong) = (verified(Stage::Verified)?, verified(Stage::Locked)?);
    let mac = hex::decode(&bind.value.code_mac);
    if secrets::is_mac(mac_input(&bind.id, code).as_bytes(), &mac)? {
        bind.value.stage = right;
        BINDS.save(&mut bind)?;
        prove(&bind.value, caller.test_mode, now)?;
        match purpose {
            Purpose::Claim => recycling::ensure_same_person(call, &bind.value)?,
            Purpose::Change => recycling::record_new_number(&bind.value, now)?,
        }
        return Ok(bind);
    }
    count_guess(&mut record.value, now);
    NUMBERS.save(&mut record)?;
    bind.value.checks_left = bind.value.checks_left.saturating_sub(1);
    if bind.value.checks_left == 0 {
        bind.value.stage = wrong;
    }
    BINDS.save(&mut bind)?;
    Err(match bind.value.stage {
        Stage::Locked => locked(purpose),
        _ => BindError::CodeInvalid { bind_id: bind.id },
    })
}

/// Records that somebody has proved to hold the attempt's number: one more message can be sent to it, and
/// the links that were sent no longer work.
pub(crate) fn prove(bind: &Bind, test_mode: bool, now: u64) -> Result<()> {
    let mut record = NUMBERS.get(&bind.number)?.ok_or_else(no_pending_bind)?;
    NUMBER_SENDS.give_back(&mut record.value.sends_full_at);
    record.value.links_after = now;
    if record.value.proved_at.is_none() && !test_mode {
        record.value.proved_at = Some(now);
        if let Ok(phone) = parse(&number(&bind.sealed)?) {
            Prefixes::of(&phone)?.count_verified(now)?;
        }
    }
    Ok(NUMBERS.save(&mut record)?)
}

/// Marks an attempt as verified without its code: its person has approved it.
pub(crate) fn approve(call: &Call, mut bind: Stored<Bind>) -> Result<Bind> {
    let stage = bind.value.stage(call.now());
    bind.value.stage = BIND.step(&bind.id, stage, "approve")?;
    BINDS.save(&mut bind)?;
    Ok(bind.value)
}

/// Returns the caller's attempt with this id, or the last one, if it waits for its code or the code
/// has expired. Refuses otherwise.
pub(crate) fn pending(caller: &AgentCaller, bind_id: Option<String>) -> Result<Stored<Bind>> {
    let last = AGENTS.get(&caller.agent_id)?.and_then(|agent| agent.value.bind_id);
    let none = || BindError::NoPendingBind { claimed: caller.owner_id.is_some() };
    let id = bind_id.or(last).ok_or_else(none)?;
    let own = BINDS.get(&id)?.filter(|bind| bind.value.agent_id == caller.agent_id);
    let bind = own.ok_or_else(none)?;
    match bind.value.stage {
        Stage::CodeSent | Stage::Expired => Ok(bind),
        Stage::Locked => Err(locked(bind.value.purpose)),
        Stage::Failed => Err(BindError::SmsUndeliverable { purpose: bind.value.purpose }),
        Stage::Verified | Stage::Superseded => Err(none()),
    }
}

fn locked(purpose: Purpose) -> BindError {
    BindError::TooManyAttempts { purpose, wait_s: seconds(RESEND_INTERVAL) }
}

/// Makes the error for a stored number that is missing, or sealed with a key that no longer exists.
pub(crate) fn no_pending_bind() -> BindError {
    BindError::NoPendingBind { claimed: false }
}

/// Returns the key by which the host identifies the person with the attempt's number.
pub(crate) fn person_key(bind: &Bind) -> Result<String> {
    Ok(NUMBERS.get(&bind.number)?.ok_or_else(no_pending_bind)?.value.person_key)
}

pub(crate) fn number(sealed: &str) -> Result<String> {
    let opened = secrets::open(&hex::decode(sealed))?.ok_or_else(no_pending_bind)?;
    Ok(String::from_utf8_lossy(&opened).into_owned())
}

/// Returns the text whose MAC is stored. It contains the attempt, so that a code is valid only for
/// its own attempt.
pub(crate) fn mac_input(bind_id: &str, code: &str) -> String {
    format!("code {bind_id} {code}")
}

/// Returns the id of the number's record, which is made if there is none. It changes when the keys
/// of MACs change.
pub(crate) fn number_id(call: &Call, caller: &AgentCaller, phone: &Phone) -> Result<String> {
    let ids = number_ids(caller.test_mode, &caller.agent_id, phone)?;
    let newest = ids.first().cloned().unwrap_or_default();
    let records = NUMBERS.get_many(ids)?;
    match records.into_iter().flatten().next() {
        Some(record) if record.id == newest => {}
        Some(record) => {
            NUMBERS.put(&newest, &record.value, Expect::Absent)?;
            NUMBERS.delete(&record.id, Expect::Any)?;
        }
        None => {
            let number = Number { person_key: call.new_id("prs"), ..Number::default() };
            NUMBERS.put(&newest, &number, Expect::Absent)?;
        }
    }
    Ok(newest)
}

fn role(caller: &AgentCaller) -> &'static str {
    if caller.owner_id.is_some() { CLAIMED_AGENT } else { ANONYMOUS_AGENT }
}

/// Returns the ids that the number's record can have, under every key of MACs, the newest first.
pub(crate) fn number_ids(test_mode: bool, agent_id: &str, phone: &Phone) -> Result<Vec<String>> {
    let subject = match (test_mode, scenario(&phone.e164)) {
        // In test mode this number is the same for all agents, so that there is a person to be
        // linked to.
        (true, Some(Scenario::AlreadyBound)) => format!("test {}", phone.e164),
        // In test mode, the same number belongs to another person for each agent.
        (true, _) => format!("test {agent_id} {}", phone.e164),
        (false, _) => format!("number {}", phone.e164),
    };
    let macs = secrets::macs(subject.as_bytes())?;
    Ok(macs.iter().map(|mac| hex::encode(mac)).collect())
}

pub(crate) fn sent(id: &str, bind: &Bind, caller: &AgentCaller) -> Sent {
    Sent {
        bind_id: id.to_owned(),
        state: bind.stage,
        allowed_actions: BIND.allowed_as(role(caller), bind.stage),
        phone_masked: bind.masked.clone(),
        expires_at: rfc3339(bind.expires_at),
        resend_after: rfc3339(bind.sent_at + RESEND_INTERVAL),
        attempts_left: bind.checks_left,
        channel: if bind.by_link { "link" } else { "sms" },
        approval_code: approval_code(id),
        test_code: caller.test_mode.then(|| Secret(TEST_CODE.to_owned())),
    }
}
