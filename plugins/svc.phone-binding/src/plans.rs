//! The numbering plans of all countries: one automaton over digits, which the build makes from
//! libphonenumber's metadata.

// The tables contain the start state of the plan of each country code; then for each state the kind
// of the number that ends there, and the next state for each digit. State 0 has no transitions.
include!(concat!(env!("OUT_DIR"), "/plans.rs"));

/// The kind of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A mobile phone, or a number that may be one.
    Mobile,
    Other,
}

/// Splits the digits of an E.164 number into country code and national number, with its kind; the
/// kind is `None` if the number is in no plan. Returns `None` if there is no such country code.
pub(crate) fn split(digits: &str) -> Option<(&str, &str, Option<Kind>)> {
    // No country code is a prefix of another one, and none begins with a zero.
    (1..=3).filter(|_| !digits.starts_with('0')).find_map(|length| {
        let (code, national) = digits.split_at_checked(length)?;
        let start = STARTS.binary_search_by_key(&code.parse().ok()?, |(code, _)| *code).ok()?;
        let (_, start) = STARTS.get(start)?;
        Some((code, national, kind(*start, national)))
    })
}

fn kind(start: u16, national: &str) -> Option<Kind> {
    let end = national.bytes().try_fold(start, |state, digit| {
        let next_states = NEXT.get(usize::from(state))?;
        next_states.get(usize::from(digit.checked_sub(b'0')?)).copied()
    })?;
    match KINDS.get(usize::from(end))? {
        1 => Some(Kind::Other),
        2 => Some(Kind::Mobile),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phonenumber::{Type, metadata::DATABASE};

    #[test]
    fn every_countrys_examples_have_their_kind() {
        use Type::{PersonalNumber, PremiumRate, SharedCost, TollFree, Voicemail};
        let (mobile, fixed) = (Type::Mobile, Type::FixedLine);
        let others = [TollFree, PremiumRate, SharedCost, PersonalNumber, Voicemail];
        let others = others.into_iter().chain([Type::Voip, Type::Pager, Type::Uan, fixed]);
        let kinds: Vec<_> =
            others.map(|of| (of, Kind::Other)).chain([(mobile, Kind::Mobile)]).collect();
        let mut examples = 0;
        for region in DATABASE.iter() {
            for &(of, kind) in &kinds {
                let descriptor = region.descriptors().get(of);
                let Some(example) = descriptor.and_then(|descriptor| descriptor.example()) else {
                    continue;
                };
                let code = region.country_code().to_string();
                let digits = format!("{code}{example}");
                // If a plan has no separate mobile numbers, a fixed line may be a mobile phone.
                let fits = |found: Option<Kind>| match of {
                    Type::FixedLine => found.is_some(),
                    _ if region.id() == "001" => found == Some(Kind::Other),
                    _ => found == Some(kind),
                };
                let (split_code, national, found) = split(&digits).unwrap();
                assert_eq!((split_code, national), (code.as_str(), example));
                assert!(fits(found), "{} {of:?} +{digits}: {found:?}", region.id());
                examples += 1;
            }
        }
        assert!(examples > 1000, "{examples}");
    }

    #[test]
    fn numbers_outside_of_plans_have_no_kind() {
        let others = "0 999 99912345678 00447400123456 0447400123456 44740012345 4474001234567 \
            1201555012 120155501234 11015550123 44740012345x";
        for digits in others.split(' ').chain([""]) {
            assert_eq!(split(digits).and_then(|(_, _, kind)| kind), None, "{digits}");
        }
    }
}
