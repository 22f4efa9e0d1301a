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
    let valid = subject.proved.iter().filter(|(_, proved)| Some(*proved) == domain.as_ref());
    let ids: Vec<String> = valid.take(MOST_ACTING).map(|(id, _)| id.clone()).collect();
    let proved = VERIFICATIONS.get_many(ids)?.into_iter().flatten();
    Ok(Speakers { owner_ids: proved.map(|found| found.value.owner_id).collect() })
}

/// Returns the targets whose domain a person has proved.
pub(crate) fn speaks_for(owner_id: &str) -> Result<SpeaksFor> {
    let limit = u32::try_from(MOST_ACTING).unwrap_or(u32::MAX);
    let own = Query::new().filter(field("owner_id").eq(owner_id)).last("changed_at").limit(limit);
    let proved =
        VERIFICATIONS.find(own)?.into_documents().filter(|own| own.value.state.is_proved());
    Ok(SpeaksFor { target_ids: proved.filter_map(|own| own.value.of.target_id).collect() })
}
