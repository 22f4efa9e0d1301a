//! Phone numbers: which can be used for a claim, how they are shown, and the numbers of test mode.

use crate::plans::{Kind, split};

/// A number that a code may be sent to.
pub(crate) struct Phone {
    pub(crate) e164: String,
    /// The country code and the last four digits, as shown to callers.
    pub(crate) masked: String,
    /// The country code and the first digits after it, by which numbers are rented in blocks.
    pub(crate) prefix: String,
    pub(crate) country_code: String,
}

/// The reasons why a number cannot be used for a claim.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PhoneError {
    /// It is not a number in E.164.
    Invalid,
    /// Numbers of this kind do not identify a person.
    NotAllowed,
}

/// The behaviour of a number of test mode, by the last two digits of +1 415 555 01xx.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scenario {
    Works,
    NeverMatches,
    ExpiresAtOnce,
    Undeliverable,
    RateLimited,
    NotAllowed,
    AlreadyBound,
    LocksAtOnce,
}

/// The prefix of +1 415 555 01xx, which North America reserves for fiction.
const SCENARIOS: &str = "+141555501";
/// The code that works in test mode.
pub(crate) const TEST_CODE: &str = "424242";
/// The number of digits after the country code that identify a block of numbers.
const PREFIX_DIGITS: usize = 4;

pub(crate) fn parse(text: &str) -> Result<Phone, PhoneError> {
    let written = text.strip_prefix('+').ok_or(PhoneError::Invalid)?;
    if !written.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(PhoneError::Invalid);
    }
    let (code, national, kind) = split(written).ok_or(PhoneError::Invalid)?;
    if scenario(text).is_none() {
        match kind {
            Some(Kind::Mobile) => {}
            Some(Kind::Other) => return Err(PhoneError::NotAllowed),
            None => return Err(PhoneError::Invalid),
        }
    }
    let last: String = national.chars().skip(national.len().saturating_sub(4)).collect();
    let block: String = national.chars().take(PREFIX_DIGITS).collect();
    let (masked, prefix) = (format!("+{code}•••••{last}"), format!("{code} {block}"));
    Ok(Phone { e164: text.to_owned(), masked, prefix, country_code: code.to_owned() })
}

pub(crate) fn scenario(e164: &str) -> Option<Scenario> {
    let number: u8 = e164.strip_prefix(SCENARIOS)?.parse().ok()?;
    match number {
        0..=9 => Some(Scenario::Works),
        10 => Some(Scenario::NeverMatches),
        11 => Some(Scenario::ExpiresAtOnce),
        12 => Some(Scenario::Undeliverable),
        13 => Some(Scenario::RateLimited),
        14 => Some(Scenario::NotAllowed),
        15 => Some(Scenario::AlreadyBound),
        16 => Some(Scenario::LocksAtOnce),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mobiles_in_e164_are_fit() {
        let fit = parse("+12015550123").map(|phone| (phone.masked, phone.prefix));
        assert_eq!(fit.ok(), Some(("+1•••••0123".to_owned(), "1 2015".to_owned())));
        assert!(parse("+447400123456").is_ok());
        for text in ["", "12015550123", "+1 201 555 0123", "+1201", "+1201555012345678", "+x"] {
            assert_eq!(parse(text).err(), Some(PhoneError::Invalid), "{text}");
        }
        // A freephone number, a premium rate one, a fixed line, and personal numbering.
        for text in ["+18002345678", "+19002345678", "+442083661177", "+447012345678"] {
            assert_eq!(parse(text).err(), Some(PhoneError::NotAllowed), "{text}");
        }
    }

    #[test]
    fn what_costs_more_than_a_mobile_is_refused_in_every_country() {
        // Satellites and ships, networks of no country, freephone, shared cost and premium rate of all
        // countries.
        let of_no_country = "+881631234567 +881612345678 +8823421234 +882121234567 +88216123456 \
            +883510012345 +8835100012345 +870301234567 +870773123456 +878101234567890 +979123456789 \
            +80812345678 +80012345678 +888123456789";
        // Premium rate, shared cost, personal numbers and pagers of countries.
        let of_countries = "+19002345678 +15002345678 +449012345678 +448431234567 +447012345678 \
            +447640123456 +33891123456 +33811234567 +499001234567 +491801234567 +4970012345678 \
            +34803123456 +34901123456 +39899123456 +39892123456 +31900123456 +41900123456 +41840123456 \
            +43900123456 +3290123456 +4690012345 +46939123456 +358600123456 +4782012345 +4590123456 \
            +61190012345 +611300123456 +6490012345 +81990123456 +82602345678 +78091234567 +27862345678 \
            +353152012345 +351601234567 +48701234567 +420900123456";
        for text in of_no_country.split_whitespace().chain(of_countries.split_whitespace()) {
            assert!(parse(text).is_err(), "{text}");
        }
        // Mobiles of the same countries.
        let mobiles = "+12015550123 +447400123456 +33612345678 +4915123456789 +34612345678 \
            +393123456789 +31612345678 +41781234567 +43664123456 +32470123456 +46701234567 \
            +358412345678 +4740612345 +4532123456 +61412345678 +64211234567 +819012345678 \
            +821020000000 +79123456789 +27711234567 +353850123456 +351912345678 +48512345678 \
            +420601123456";
        for text in mobiles.split_whitespace() {
            assert!(parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn scenarios_are_the_numbers_of_fiction() {
        assert_eq!(scenario("+14155550100"), Some(Scenario::Works));
        assert_eq!(scenario("+14155550116"), Some(Scenario::LocksAtOnce));
        assert_eq!(scenario("+14155550117"), None);
        assert_eq!(scenario("+14155560100"), None);
    }
}
