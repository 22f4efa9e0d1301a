//! `delivery`: the delivery rules of people, read and written in the call's unit of work.

use crate::{
    contract::{delivery, types::HostError},
    grant::Grant,
    interfaces::{
        interface::Interface,
        reply::{Answer, Reply},
        taped::{TapedState, taped},
    },
    state::CallState,
};
use portolan_vocabulary::{
    ALWAYS_DELIVERED, Cap, DailyDigest, DeliveryRules, QuietHours, RulesChange, Timestamp,
    is_event_name, is_time_zone,
};

pub(super) const INTERFACE: Interface = Interface::sensitive(Grant::Delivery, |linker| {
    delivery::add_to_linker::<_, TapedState>(linker, taped)
});

const DISABLED: usize = 100;
const CAPS: usize = 20;
const DIGEST_EVENTS: usize = 100;
const CAP_EVENTS: std::ops::RangeInclusive<u32> = 1..=1000;
const CAP_HOURS: std::ops::RangeInclusive<u32> = 1..=168;
const MINUTES_OF_A_DAY: u16 = 24 * 60;
const SUBJECT_BYTES: usize = 200;

impl delivery::Host for CallState {
    async fn get(&mut self, owner_id: String) -> Reply<delivery::State> {
        let known =
            self.read_people(move |people, unit| people.delivery_state(unit, owner_id)).await;
        let now = self.context.now;
        Ok(known.map(|(rules, held)| delivery::State {
            muted: u32::try_from(rules.muted_count(now)).unwrap_or(u32::MAX),
            held: u32::try_from(held).unwrap_or(u32::MAX),
            rules: view(rules),
            always_delivered: ALWAYS_DELIVERED.map(str::to_owned).into(),
        }))
    }

    async fn set_rules(&mut self, owner_id: String, rules: delivery::Rules) -> Reply<()> {
        let rules = match checked(rules) {
            Ok(rules) => rules,
            Err(text) => return Ok(Err(HostError::Invalid(text))),
        };
        Ok(self.change_rules(owner_id, RulesChange::Replace(rules)).await.map(drop))
    }

    async fn mute(&mut self, owner_id: String, subject: String, until: Option<u64>) -> Reply<()> {
        if !(1..=SUBJECT_BYTES).contains(&subject.len()) {
            let text = format!("what is muted must have 1 to {SUBJECT_BYTES} bytes");
            return Ok(Err(HostError::Invalid(text)));
        }
        let until = until.map(Timestamp::from_millis);
        Ok(self.change_rules(owner_id, RulesChange::Mute { subject, until }).await.map(drop))
    }

    async fn unmute(&mut self, owner_id: String, subject: String) -> Reply<bool> {
        Ok(self.change_rules(owner_id, RulesChange::Unmute { subject }).await)
    }
}

impl CallState {
    async fn change_rules(&mut self, owner_id: String, change: RulesChange) -> Answer<bool> {
        self.change_people(move |people, unit| people.change_delivery_rules(unit, owner_id, change))
            .await
    }
}

/// Returns the rules as they are stored; the error is a sentence.
fn checked(rules: delivery::Rules) -> Result<DeliveryRules, String> {
    let disabled = names("disabled", rules.disabled, DISABLED)?;
    let mut checked = DeliveryRules { disabled, ..DeliveryRules::default() };
    if let Some(delivery::QuietHours { from, to, time_zone }) = rules.quiet_hours {
        ensure_time("quiet_hours", &[from, to], &time_zone)?;
        if from == to {
            return Err("`quiet_hours` must end at another time than they begin".to_owned());
        }
        checked.quiet_hours = Some(QuietHours { from, to, time_zone });
    }
    if rules.caps.len() > CAPS {
        return Err(format!("`caps` must have at most {CAPS} entries"));
    }
    for delivery::Cap { events, most, hours } in rules.caps {
        if !CAP_EVENTS.contains(&most) || !CAP_HOURS.contains(&hours) {
            return Err("a cap must be of 1 to 1000 events in 1 to 168 hours".to_owned());
        }
        let events = ensure_event_name("caps", events)?;
        checked.caps.push(Cap { events, most, hours });
    }
    if let Some(delivery::DailyDigest { events, at, time_zone }) = rules.digest {
        ensure_time("digest", &[at], &time_zone)?;
        let events = names("digest", events, DIGEST_EVENTS)?;
        checked.digest = Some(DailyDigest { events, at, time_zone });
    }
    Ok(checked)
}

fn names(field: &str, names: Vec<String>, most: usize) -> Result<Vec<String>, String> {
    if names.len() > most {
        return Err(format!("`{field}` must name at most {most} types of events"));
    }
    names.into_iter().map(|name| ensure_event_name(field, name)).collect()
}

fn ensure_event_name(field: &str, name: String) -> Result<String, String> {
    match is_event_name(&name) {
        true => Ok(name),
        false => {
            Err(format!("`{field}` must name event types, such as `pairing.replied`, or families"))
        }
    }
}

fn ensure_time(field: &str, minutes: &[u16], time_zone: &str) -> Result<(), String> {
    if minutes.iter().any(|minute| *minute >= MINUTES_OF_A_DAY) {
        return Err(format!("a time of `{field}` must be 0 to 1439 minutes after midnight"));
    }
    match is_time_zone(time_zone) {
        true => Ok(()),
        false => Err(format!("the time zone of `{field}` must be an IANA name")),
    }
}

fn view(rules: DeliveryRules) -> delivery::Rules {
    let DeliveryRules { disabled, quiet_hours, caps, digest, .. } = rules;
    let quiet = |QuietHours { from, to, time_zone }| delivery::QuietHours { from, to, time_zone };
    let cap = |Cap { events, most, hours }| delivery::Cap { events, most, hours };
    let daily =
        |DailyDigest { events, at, time_zone }| delivery::DailyDigest { events, at, time_zone };
    delivery::Rules {
        disabled,
        quiet_hours: quiet_hours.map(quiet),
        caps: caps.into_iter().map(cap).collect(),
        digest: digest.map(daily),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> delivery::Rules {
        delivery::Rules {
            disabled: vec!["saved_search".to_owned()],
            quiet_hours: None,
            caps: Vec::new(),
            digest: None,
        }
    }

    #[test]
    fn rules_that_cannot_be_kept_are_refused_with_a_sentence() {
        assert!(checked(rules()).is_ok());
        let quiet = |from, to, zone: &str| {
            let time_zone = zone.to_owned();
            Some(delivery::QuietHours { from, to, time_zone })
        };
        let cap = |events: &str, most, hours| {
            vec![delivery::Cap { events: events.to_owned(), most, hours }]
        };
        for (faulty, sentence) in [
            (
                delivery::Rules { disabled: vec!["Pairing".into()], ..rules() },
                "`disabled` must name",
            ),
            (delivery::Rules { quiet_hours: quiet(60, 60, "UTC"), ..rules() }, "another time"),
            (delivery::Rules { quiet_hours: quiet(0, 1440, "UTC"), ..rules() }, "0 to 1439"),
            (delivery::Rules { quiet_hours: quiet(0, 60, "Mars/Base"), ..rules() }, "IANA name"),
            (delivery::Rules { caps: cap("pairing", 0, 1), ..rules() }, "1 to 1000 events"),
            (delivery::Rules { caps: cap("pairing", 1, 0), ..rules() }, "1 to 168 hours"),
            (delivery::Rules { caps: cap("", 1, 1), ..rules() }, "`caps` must name"),
        ] {
            let error = checked(faulty).unwrap_err();
            assert!(error.contains(sentence), "{error}");
        }
    }
}
