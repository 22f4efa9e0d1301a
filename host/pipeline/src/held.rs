//! The release of held events when they are due: those that wait are delivered, and those beyond a cap are
//! summarized by a digest.

use crate::host::Host;
use portolan_identity::Recipients;
use portolan_store::{
    Attachments, Audience, DueWork, HeldEvent, NewEvent, OutboxCommand, Release, StateError, Task,
    Unit, Verdict,
};
use portolan_vocabulary::{
    DeliveryRules, ErrorCode, EventParts, Failure, NOTIFICATIONS_DIGEST, OwnerRules, Role, Timing,
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The maximum number of subjects that a digest names.
const SUBJECTS: usize = 100;

impl Host {
    /// Delivers the held events of a person that are due. The work's timer has the owner's id as its name.
    pub(super) async fn release_held(&self, work: &DueWork) -> Result<(), Failure> {
        let unavailable = || Failure::new(ErrorCode::DependencyUnavailable);
        let Task::Timer { key, .. } = &work.task else { return Err(unavailable()) };
        let mut unit = Unit::new(self.store.clone(), self.clock.now());
        let release = self.add_release(&mut unit, &key.name, work.test_mode).await;
        release.map_err(|error| unavailable().message(error.to_string()))?;
        let attachments = Attachments { task: Some(work.task.clone()), ..Attachments::default() };
        match unit.commit(attachments).await {
            Ok(Verdict::Committed | Verdict::Superseded) => Ok(()),
            // The events are still due, so their release is tried again.
            Ok(_) | Err(_) => Err(unavailable()),
        }
    }

    /// Adds the release to a unit, and the digest if there is one.
    async fn add_release(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        test_mode: bool,
    ) -> Result<(), StateError> {
        let now = unit.now();
        let Recipients { agents, rules, has_email } =
            self.identity.find_recipients(unit, owner_id, test_mode).await?;
        let rules = rules.unwrap_or_else(|| {
            let rules = DeliveryRules::default();
            Arc::new(OwnerRules { owner_id: owner_id.to_owned(), test_mode, rules })
        });
        let held = self.store.summarized_events(owner_id, now).await?;
        let counted = self.store.counted_events(owner_id, now).await?;
        let is_wanted =
            |event: &&HeldEvent| rules.rules.timing_of_held(event.parts(), now) != Timing::Never;
        let wanted: Vec<&HeldEvent> = held.iter().filter(is_wanted).collect();
        let is_type_wanted = |(event_type, _): &&(String, u64)| {
            let event = EventParts { event_type, subject: "", data: "{}" };
            rules.rules.timing_of_held(event, now) != Timing::Never
        };
        let beyond: Vec<&(String, u64)> = counted.iter().filter(is_type_wanted).collect();
        if !(wanted.is_empty() && beyond.is_empty()) {
            let data = digest(&wanted, &beyond, self.preferences_call());
            let (subject, audience) =
                (format!("notifications/{owner_id}"), Audience::Owner(owner_id.to_owned()));
            let event = NewEvent::of_host(NOTIFICATIONS_DIGEST, &subject, audience, &data, now);
            let (agents, rules) = (agents.clone(), Some(Arc::clone(&rules)));
            unit.publish(NewEvent { test_mode, agents, rules, has_email, ..event });
        }
        let summarized = held.iter().map(HeldEvent::sequence).collect();
        let release = Release { rules, agents, summarized, counted, has_email, at: now };
        unit.add_command(OutboxCommand::Release(release));
        Ok(())
    }

    /// Returns the call that shows the person's rules.
    fn preferences_call(&self) -> Option<Value> {
        let snapshot = self.catalog.snapshot();
        let capability = snapshot.holder(Role::Preferences).ok()?;
        Some(json!({ "capability": &*capability.id, "input": { "action": "get_preferences" } }))
    }
}

/// Returns the data of a digest: how many events were held, of which types, and about what. `beyond` are the
/// numbers of events by type that were beyond the limit of held events.
fn digest(held: &[&HeldEvent], beyond: &[&(String, u64)], next: Option<Value>) -> Value {
    let mut types: BTreeMap<&str, u64> = BTreeMap::new();
    let mut subjects = BTreeSet::new();
    for event in held {
        *types.entry(&event.event_type).or_default() += 1;
        subjects.insert(event.subject.as_str());
    }
    for (event_type, count) in beyond {
        *types.entry(event_type).or_default() += count;
    }
    let total: u64 = types.values().sum();
    let beyond_limit: u64 = beyond.iter().map(|(_, count)| count).sum();
    let types: Vec<Value> = types
        .into_iter()
        .map(|(event_type, count)| json!({ "type": event_type, "count": count }))
        .collect();
    let unnamed = subjects.len().saturating_sub(SUBJECTS);
    let subjects: Vec<&str> = subjects.into_iter().take(SUBJECTS).collect();
    let mut data = json!({
        "v": 1,
        "actor": { "kind": "system" },
        "summary": "Events were held because of the limits that you have set.",
        "held": total,
        "beyond_limit": beyond_limit,
        "types": types,
        "subjects": subjects,
        "more_subjects": unnamed,
    });
    if let (Some(data), Some(next)) = (data.as_object_mut(), next) {
        data.insert("next".to_owned(), next);
    }
    data
}
