//! Codes that people redeem. A code is stored only as its MAC. A refusal never says why a code
//! cannot be redeemed, and after a few such codes no more are tried for a while.

use crate::journal::{Side, Transaction};
use crate::{purse::Purse, rules::WRONG_CODES, types::*, views::*};
use people_kit::hex;
use portolan_sdk::{prelude::*, secrets};

/// The alphabet of Crockford's Base32, which has no two letters that look alike.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// The number of letters of a code: 16 letters of five bits each are 80 bits.
const LENGTH: u32 = 16;
const GROUP: usize = 4;

pub(crate) fn issue(call: &Call, input: CodeInput) -> Result<Issued> {
    let expires_at =
        input.expires_at.as_deref().map(|at| parse_instant("/expires_at", at)).transpose()?;
    if expires_at.is_some_and(|at| at <= call.now()) {
        return Err(Refusal::validation("/expires_at", "future", "a time to come").into());
    }
    let code = format_code(&call.random(LENGTH));
    let value = Code { amount: input.amount, uses_left: input.uses, expires_at, note: input.note };
    let mac = secrets::mac(mac_input(&code).as_bytes())?;
    CODES.put(&hex::encode(&mac), &value, Expect::Absent)?;
    let expires_at = expires_at.map(time::rfc3339);
    Ok(Issued { code, amount: input.amount, uses: input.uses, expires_at })
}

/// Redeems a code into the calling agent's account. Codes that cannot be redeemed are counted;
/// after too many of them, every code is refused for a while.
pub(crate) fn redeem(call: &Call, mut purse: Purse<'_>, code: &str) -> Result<Line> {
    purse.ensure_permitted("redeem")?;
    let now = call.now();
    let wrong = &mut purse.person.stored.value.wrong_codes;
    if let Some(wait) = WRONG_CODES.wait(wrong, now) {
        return Err(CreditsError::TooManyAttempts { wait_s: time::seconds(wait) });
    }
    let Some((mut code, redemption_id)) = redeemable(&purse.owner_id, code, now)? else {
        wrong.push(now);
        purse.close()?;
        return Err(CreditsError::CodeNotRedeemable);
    };
    code.value.uses_left -= 1;
    CODES.save(&mut code)?;
    let agent_id = purse.own.stored.value.agent_id.clone();
    let redemption = Redemption { agent_id: agent_id.clone(), at: now };
    REDEMPTIONS.put(&redemption_id, &redemption, Expect::Absent)?;
    let amount = code.value.amount;
    let line = purse.grant(&Transaction::grant(Kind::Code, Side::Promo, &agent_id, amount))?;
    purse.close()?;
    Ok(line)
}

/// Returns the code and the id of its redemption record, if this person may redeem it now.
fn redeemable(owner_id: &str, code: &str, now: u64) -> Result<Option<(Stored<Code>, String)>> {
    let macs = secrets::macs(mac_input(code).as_bytes())?;
    let found = CODES.get_many(macs.iter().map(|mac| hex::encode(mac)))?;
    let is_valid = |code: &Stored<Code>| {
        code.value.uses_left > 0 && code.value.expires_at.is_none_or(|at| at > now)
    };
    let Some(code) = found.into_iter().flatten().next().filter(is_valid) else { return Ok(None) };
    let redemption_id = format!("{}/{owner_id}", code.id);
    let is_first = REDEMPTIONS.get(&redemption_id)?.is_none();
    Ok(is_first.then_some((code, redemption_id)))
}

/// Returns the text whose MAC is stored: the code's letters, however they were written.
fn mac_input(code: &str) -> String {
    let letters = code.chars().filter(char::is_ascii_alphanumeric);
    let letters = letters.map(|letter| match letter.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        letter => letter,
    });
    format!("code {}", letters.collect::<String>())
}

/// Encodes five bits of each byte as a letter, in groups.
fn format_code(random: &[u8]) -> String {
    let letters = random.iter().filter_map(|byte| LETTERS.get(usize::from(byte % 32)));
    let letters: Vec<char> = letters.map(|letter| char::from(*letter)).collect();
    let groups: Vec<String> = letters.chunks(GROUP).map(|group| group.iter().collect()).collect();
    groups.join("-")
}

/// Parses a time of the input into milliseconds since the Unix epoch.
pub(crate) fn parse_instant(pointer: &str, text: &str) -> Result<u64, Refusal> {
    let refused = || Refusal::validation(pointer, "format", "a time as RFC 3339 writes it");
    time::parse(text).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_the_same_however_it_is_written() {
        let code = format_code(&[0, 1, 33, 31, 10, 255, 24, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(code, "011Z-AZR8-7654-3210");
        assert_eq!(mac_input(&code), "code 011ZAZR876543210");
        assert_eq!(mac_input(" oil zazr-8765/43210"), "code 011ZAZR876543210");
    }
}
