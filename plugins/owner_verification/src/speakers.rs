//! The people who have proved the domain of a target, for other capabilities.

use crate::{refusals::*, types::*};
use people_kit::organisations::{MOST_ACTING, Speakers, SpeaksFor};
use portolan_sdk::prelude::*;

/// Returns the people who have proved the present domain of a target.
pub(crate) fn speakers(target_id: String) -> Result<Speakers> {
    let subject = SUBJECTS.get_or_default(&target_id)?.value;
    if subject.proved.is_empty() {
        return Ok(Speakers::default());
    }
    let of = SubjectRef { target_id: Some(target_id), org_id: None };
    let domain = of.domain_now()?;
    let valid = subject.proved.iter().filter(|(_, proof)| Some(&proof.domain) == domain.as_ref());
    let ids: Vec<String> = valid.take(MOST_ACTING).map(|(id, _)| id.clone()).collect();
    let proved = VERIFICATIONS.get_many(ids)?.into_iter().flatten();
    Ok(Speakers { owner_ids: proved.map(|found| found.value.owner_id).collect() })
}

/// Returns the targets whose present domain a person has proved.
pub(crate) fn speaks_for(owner_id: &str) -> Result<SpeaksFor> {
    let limit = u32::try_from(MOST_ACTING).unwrap_or(u32::MAX);
    let own = Query::new().filter(field("owner_id").eq(owner_id)).last("changed_at").limit(limit);
    let mut target_ids = Vec::new();
    for own in VERIFICATIONS.find(own)?.into_documents() {
        let Verification { of, domain, state, .. } = own.value;
        // The domain of the record may have changed since it was proved.
        if state.is_proved() && of.domain_now()?.as_ref() == Some(&domain) {
            target_ids.extend(of.target_id);
        }
    }
    Ok(SpeaksFor { target_ids })
}
