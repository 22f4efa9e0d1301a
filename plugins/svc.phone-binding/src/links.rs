//! The links of messages, which are outside the count of guesses: each contains 128 random bits that only
//! the phone has. A person who opens one signs in there, and can then approve an agent of theirs by its
//! approval code. A link does nothing for the agent that requested the message.

use crate::{
    bind::{person_key, prove},
    limits::{FORGET_AFTER, LIFETIME},
    recycling,
    states::Stage,
    types::*,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use people_kit::hex;
use portolan_sdk::contract::platform;
use portolan_sdk::{prelude::*, secrets};

const SECRET_BYTES: u32 = 16;
/// The letters of an approval code.
const APPROVAL_LETTERS: usize = 8;

/// A link that is not stored yet.
pub(crate) struct NewLink {
    pub(crate) url: String,
    id: String,
}

impl NewLink {
    pub(crate) fn draw(call: &Call) -> Result<Self> {
        let secret = URL_SAFE_NO_PAD.encode(call.random(SECRET_BYTES));
        let url = format!("{}/m/{secret}", platform::about().public_url);
        Ok(Self { url, id: hex::encode(&secrets::mac(mac_input(&secret).as_bytes())?) })
    }

    /// Stores the link, whose message was sent for this attempt.
    pub(crate) fn store(
        self,
        record: &mut Number,
        (id, bind): (&str, &Bind),
        now: u64,
    ) -> Result<()> {
        let link = Link { number: bind.number.clone(), bind_id: id.to_owned(), sent_at: now };
        LINKS.put(&self.id, &link, Expect::Absent)?;
        let input = LinkId { id: self.id };
        timers::set(&format!("link/{}", input.id), now + FORGET_AFTER, "forget_link", &input)?;
        record.last_link_at = now;
        Ok(())
    }
}

impl Number {
    /// Renews the links of the number, and returns whether there is one.
    pub(crate) fn renew_links(&mut self, now: u64) -> bool {
        self.links_until = now + LIFETIME;
        self.is_valid_link(self.last_link_at, now)
    }

    fn is_valid_link(&self, sent_at: u64, now: u64) -> bool {
        sent_at > self.links_after && sent_at + FORGET_AFTER > now && self.links_until > now
    }
}

fn mac_input(secret: &str) -> String {
    format!("link {secret}")
}

/// Finds the attempt for which a link was sent, if the link is valid.
fn find(secret: &str, now: u64) -> Result<Stored<Bind>> {
    let macs = secrets::macs(mac_input(secret).as_bytes())?;
    let links = LINKS.get_many(macs.iter().map(|mac| hex::encode(mac)).collect::<Vec<_>>())?;
    let link = links.into_iter().flatten().next().ok_or(BindError::LinkInvalid)?.value;
    let number = NUMBERS.get(&link.number)?.ok_or(BindError::LinkInvalid)?;
    if !number.value.is_valid_link(link.sent_at, now) {
        return Err(BindError::LinkInvalid);
    }
    BINDS.get(&link.bind_id)?.ok_or(BindError::LinkInvalid)
}

pub(crate) fn view(call: &Call, secret: &str) -> Result<LinkView> {
    let bind = find(secret, call.now())?.value;
    let asked_at = rfc3339(bind.sent_at);
    Ok(LinkView { phone_masked: bind.masked, agent_name: bind.name, asked_at })
}

/// Uses a link, and with it every other link of its number. Returns the attempt for which it was sent.
pub(crate) fn redeem(call: &Call, secret: &str) -> Result<Bind> {
    let bind = find(secret, call.now())?.value;
    prove(&bind, false, call.now())?;
    recycling::ensure_same_person(call, &bind)?;
    Ok(bind)
}

/// Returns the code by which a person names an attempt: the last letters of its id, which are random.
pub(crate) fn approval_code(bind_id: &str) -> String {
    let rest = bind_id.len().saturating_sub(APPROVAL_LETTERS);
    let last = bind_id.get(rest..).unwrap_or_default();
    let (first, second) = last.split_at_checked(APPROVAL_LETTERS / 2).unwrap_or((last, ""));
    format!("{first}-{second}")
}

/// Returns the attempt with an approval code, if it is for the number of this person.
pub(crate) fn candidate(call: &Call, input: &Approval) -> Result<Stored<Bind>> {
    let none = || BindError::NoPendingBind { claimed: false };
    let letters = input.approval_code.chars().filter(char::is_ascii_alphanumeric);
    let code = approval_code(&letters.collect::<String>().to_uppercase());
    let attempt = APPROVALS.get(&code)?.ok_or_else(none)?;
    let owner = OWNERS.get(&input.owner_id)?.ok_or_else(none)?;
    let bind = BINDS.get(&attempt.value.bind_id)?.ok_or_else(none)?;
    let is_open = bind.value.stage(call.now()) == Stage::CodeSent
        && bind.value.purpose == Purpose::Claim
        && bind.value.sent_at >= owner.value.signed_out_at
        && person_key(&bind.value)? == owner.value.person_key;
    if is_open { Ok(bind) } else { Err(none()) }
}

/// Deletes a link that is too old to be valid.
pub(crate) fn forget(id: &str) -> Result<()> {
    Ok(LINKS.delete(id, Expect::Any)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_code_is_the_random_end_of_the_attempts_id() {
        assert_eq!(approval_code("bnd_01K4Z8QW3TJX5V7NEM2RPABCD9"), "2RPA-BCD9".to_owned());
        assert_eq!(approval_code("2RPABCD9"), "2RPA-BCD9");
    }

    #[test]
    fn a_link_is_valid_until_one_is_used_and_as_long_as_it_is_renewed() {
        let mut number = Number { last_link_at: DAY, ..Number::default() };
        assert!(number.renew_links(DAY));
        assert!(number.is_valid_link(DAY, DAY + LIFETIME - 1));
        assert!(!number.is_valid_link(DAY, DAY + LIFETIME));
        assert!(number.renew_links(DAY + HOUR));
        assert!(number.is_valid_link(DAY, DAY + HOUR));
        assert!(!number.renew_links(2 * DAY));
        number.renew_links(DAY + HOUR);
        number.links_after = DAY;
        assert!(!number.is_valid_link(DAY, DAY + HOUR));
    }
}
