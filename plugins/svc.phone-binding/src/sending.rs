//! A request for a code: it is counted, and leads to a message with a code and a link, to a message with a
//! link, or to the renewal of the links that were sent.

use crate::{
    bind::{mac_input, no_pending_bind},
    limits::{FORGET_AFTER, LIFETIME, NUMBER_SENDS, count_request, guess_wait, rate_limited},
    links::NewLink,
    phone::{Phone, Scenario, TEST_CODE, scenario},
    text,
    traffic::Prefixes,
    types::*,
};
use people_kit::hex;
use portolan_sdk::contract::AgentCaller;
use portolan_sdk::contract::messages::{self, Recipient, Unsent};
use portolan_sdk::{prelude::*, secrets, time::seconds};

/// Makes a code, counts it, and sends the message, except in test mode.
///
/// If the number has had too many messages, its last links are renewed in place of another message. If it
/// has had too many wrong codes, the message has a link and no code.
pub(crate) fn dispatch(
    call: &Call,
    caller: &AgentCaller,
    id: &str,
    bind: &mut Bind,
    phone: &Phone,
    agent: &mut Agent,
) -> Result<()> {
    let now = call.now();
    let mut record = NUMBERS.get(&bind.number)?.ok_or_else(no_pending_bind)?;
    count_request(agent, &bind.number, now)?;
    let guess_wait = guess_wait(&mut record.value, now);
    if let (Some(wait), Purpose::Change) = (guess_wait, bind.purpose) {
        let wait_s = seconds(wait);
        return Err(BindError::TooManyAttempts { purpose: bind.purpose, wait_s });
    }
    let scenario = scenario(&phone.e164).filter(|_| caller.test_mode);
    let code = match scenario {
        // No code of six digits matches this one.
        Some(Scenario::NeverMatches) => "never".to_owned(),
        Some(_) => TEST_CODE.to_owned(),
        None => random_code(call),
    };
    let code = Some(code).filter(|_| guess_wait.is_none());
    bind.sent_at = now;
    let expires_at_once = scenario == Some(Scenario::ExpiresAtOnce);
    bind.expires_at = if expires_at_once { now } else { now + LIFETIME };
    bind.name = caller.agent_name.as_deref().and_then(text::display_name);
    let attempt = Attempt { bind_id: id.to_owned() };
    timers::set(&format!("attempt/{id}"), now + FORGET_AFTER, "forget", &attempt)?;
    let closed = NUMBER_SENDS.wait(record.value.sends_full_at, now);
    let sent = match (closed, caller.test_mode) {
        (Some(wait), _) => Err(wait),
        (None, true) => Ok(()),
        (None, false) => send(call, (id, bind), phone, &mut record.value, code.as_deref())?,
    };
    match sent {
        Ok(()) => {
            NUMBER_SENDS.take(&mut record.value.sends_full_at, now);
            record.value.renew_links(now);
        }
        Err(_) if bind.purpose == Purpose::Claim && record.value.renew_links(now) => {}
        Err(wait) => return Err(rate_limited(wait)),
    }
    let code = code.filter(|_| sent.is_ok());
    bind.by_link = code.is_none();
    bind.code_mac = match code {
        Some(code) => hex::encode(&secrets::mac(mac_input(id, &code).as_bytes())?),
        None => String::new(),
    };
    Ok(NUMBERS.save(&mut record)?)
}

/// Sends the message. If that is not possible now, returns the time after which it may be.
fn send(
    call: &Call,
    (id, bind): (&str, &mut Bind),
    phone: &Phone,
    record: &mut Number,
    code: Option<&str>,
) -> Result<Result<(), u64>> {
    let now = call.now();
    // A proved number is not refused because of the requests of strangers.
    let strangers = record.proved_at.is_none().then(|| Prefixes::of(phone)).transpose()?;
    if let Some(wait) = strangers.as_ref().and_then(|prefixes| prefixes.wait(now)) {
        return Ok(Err(wait));
    }
    // A new number is not a way to sign in before it is valid.
    let link = match bind.purpose {
        Purpose::Claim => Some(NewLink::draw(call)?),
        Purpose::Change => None,
    };
    let url = link.as_ref().map(|link| &*link.url);
    let text = text::compose(bind.purpose, code, url, bind.name.as_deref());
    let recipient = if strangers.is_none() { Recipient::Known } else { Recipient::Unknown };
    let message_id = match messages::send(&phone.e164, &text, recipient) {
        Ok(message_id) => message_id,
        Err(Unsent::Later(wait_s)) => return Ok(Err(u64::from(wait_s) * SECOND)),
        Err(Unsent::Destination) => {
            return Err(BindError::PhoneNotAllowed { purpose: bind.purpose });
        }
        Err(Unsent::Failed(error)) => return Err(error.into()),
    };
    if let Some(prefixes) = strangers {
        prefixes.count_sent(now)?;
    }
    if let Some(link) = link {
        link.store(record, (id, bind), now)?;
    }
    if let Some(earlier) = &bind.message_id {
        MESSAGES.delete(earlier, Expect::Any)?;
    }
    MESSAGES.put(&message_id, &Attempt { bind_id: id.to_owned() }, Expect::Absent)?;
    bind.message_id = Some(message_id);
    Ok(Ok(()))
}

/// Returns six random digits, uniformly distributed.
fn random_code(call: &Call) -> String {
    const NUMBERS: u32 = 1_000_000;
    // Greater numbers are drawn again: with them, low codes would be more frequent.
    const UNBIASED_BELOW: u32 = u32::MAX - u32::MAX % NUMBERS;
    loop {
        let number = u32::from_le_bytes(call.random(4).try_into().unwrap_or_default());
        if number < UNBIASED_BELOW {
            return format!("{:06}", number % NUMBERS);
        }
    }
}
