//! The preferences that the host applies to events: as the delivery rules that it keeps of each person.

use crate::{names, own, types::*};
use people_kit::delivery::{
    CatalogChange, Mute, STATED_AT_ONCE, StateNext, Unmute, begin_stating, go_on_stating,
};
use portolan_sdk::{contract::delivery, prelude::*};

/// The action that states the rules of all people.
const STATE_RULES: &str = "state_rules";

/// The event type that each notice is about.
const NOTICES: [(Notice, &str); 3] = [
    (Notice::PairingReply, "pairing.replied"),
    (Notice::MeetingConfirmation, "meeting.confirmed"),
    (Notice::MatchUpdate, "match.updated"),
];

/// Tells the host the rules that follow from a person's preferences.
pub(crate) fn state(owner_id: &str, preferences: &Preferences) -> Result<()> {
    Ok(delivery::set_rules(owner_id, &rules(preferences))?)
}

/// Returns the preferences that are in force, and the events held because of them.
pub(crate) fn in_force(owner_id: &str) -> Result<PreferencesInForce> {
    let owner = own(owner_id)?;
    let mut state = delivery::get(owner_id)?;
    let always = &state.always_delivered;
    state.rules.disabled.retain(|name| !names::is_always_delivered(name, always));
    Ok(PreferencesInForce {
        version: owner.revision,
        preferences: Some(owner.value.preferences),
        not_delivered: state.rules.disabled,
        muted: state.muted,
        held_events: state.held,
        always_delivered: state.always_delivered,
    })
}

pub(crate) fn mute(input: &Mute) -> Result<(), HostError> {
    unless_gone(delivery::mute(&input.owner_id, &input.subject, input.until))
}

pub(crate) fn unmute(input: &Unmute) -> Result<(), HostError> {
    unless_gone(delivery::unmute(&input.owner_id, &input.subject).map(drop))
}

/// Accepts that there is no such person any more: nothing is delivered to them.
fn unless_gone(changed: Result<(), HostError>) -> Result<(), HostError> {
    match changed {
        Err(HostError::Conflict) => Ok(()),
        changed => changed,
    }
}

/// Begins to state the rules of all people, after a version of this capability was installed that may make
/// other rules of their preferences.
pub(crate) fn on_catalog_changed(call: &Call, change: &CatalogChange) -> Result<()> {
    match change.names(CAPABILITY) && !OWNERS.find(Query::new().limit(1))?.hits.is_empty() {
        true => Ok(begin_stating(call, STATE_RULES)?),
        false => Ok(()),
    }
}

/// Tells the host the rules of the next people, and goes on with the others in another call.
pub(crate) fn state_next(call: &Call, input: StateNext) -> Result<()> {
    let page = OWNERS.find(Query::new().limit(STATED_AT_ONCE).cursor(input.cursor))?;
    let (owners, next) = page.into_parts();
    for owner in owners {
        unless_gone(delivery::set_rules(&owner.id, &rules(&owner.value.preferences)))?;
    }
    Ok(go_on_stating(call, STATE_RULES, next)?)
}

/// Returns the rules that follow from preferences.
fn rules(preferences: &Preferences) -> delivery::Rules {
    let unwanted = NOTICES.iter().filter(|(notice, _)| !preferences.notify.contains(notice));
    let mut disabled: Vec<String> = unwanted.map(|(_, name)| (*name).to_owned()).collect();
    disabled.extend(preferences.disabled_events.iter().cloned());
    let quiet = |hours: &QuietHours| delivery::QuietHours {
        from: minutes(&hours.from),
        to: minutes(&hours.to),
        time_zone: hours.time_zone.clone(),
    };
    let cap = |cap: &EventCap| delivery::Cap {
        events: cap.events.clone(),
        most: cap.most,
        hours: match cap.per {
            Period::Hour => 1,
            Period::Day => 24,
        },
    };
    let digest = |digest: &EventDigest| delivery::DailyDigest {
        events: digest.events.clone(),
        at: minutes(&digest.at),
        time_zone: digest.time_zone.clone(),
    };
    delivery::Rules {
        disabled,
        quiet_hours: preferences.quiet_hours.as_ref().map(quiet),
        caps: preferences.event_caps.iter().map(cap).collect(),
        digest: preferences.event_digest.as_ref().map(digest),
    }
}

/// Returns the minutes after midnight of a time such as `22:00`.
fn minutes(time: &str) -> u16 {
    let part = |text: Option<&str>| text.and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut parts = time.split(':');
    part(parts.next()) * 60 + part(parts.next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences_become_rules() {
        let preferences = Preferences {
            notify: vec![Notice::MatchUpdate],
            disabled_events: vec!["saved_search".into()],
            quiet_hours: Some(QuietHours {
                from: "22:30".into(),
                to: "07:05".into(),
                time_zone: "Europe/Lisbon".into(),
            }),
            event_caps: vec![EventCap { events: "pairing".into(), most: 3, per: Period::Day }],
            ..Preferences::default()
        };
        let rules = rules(&preferences);
        assert_eq!(rules.disabled, ["pairing.replied", "meeting.confirmed", "saved_search"]);
        let quiet = rules.quiet_hours.map(|hours| (hours.from, hours.to));
        assert_eq!(quiet, Some((22 * 60 + 30, 7 * 60 + 5)));
        let caps: Vec<_> = rules.caps.iter().map(|cap| (cap.most, cap.hours)).collect();
        assert_eq!(caps, [(3, 24)]);
        assert!(rules.digest.is_none());
    }

    #[test]
    fn nobody_is_kept_from_events_before_they_choose() {
        let rules = rules(&Preferences::default());
        assert!(rules.disabled.is_empty() && rules.quiet_hours.is_none() && rules.caps.is_empty());
    }
}
