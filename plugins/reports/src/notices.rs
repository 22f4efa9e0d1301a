//! The event that announces a change of a report.

use crate::{documents::*, refusals::*, states::*, types::*};
use portolan_sdk::prelude::*;

/// Publishes the event to the reporter and to the affected person. Neither is told who the other
/// one is.
pub(crate) fn updated(report: &Stored<Report>) -> Result<(), HostError> {
    let value = &report.value;
    if value.owner_id != OPERATOR {
        notify(report, Role::Reporter, &value.owner_id)?;
    }
    match &value.affected_id {
        Some(affected_id) => notify(report, Role::Affected, affected_id),
        None => Ok(()),
    }
}

fn notify(report: &Stored<Report>, role: Role, owner_id: &str) -> Result<(), HostError> {
    let value = &report.value;
    let more = ReportUpdated { role, subject_id: value.subject_id.clone() };
    let data = Data::by_system(report.resource(), summary(value.state), more);
    report.publish(UPDATED, Audience::Owner(owner_id.to_owned()), &data.next(get(&report.id)))
}

fn summary(state: State) -> &'static str {
    match state {
        State::Open => "A report has arrived.",
        State::Triaged => "A report is being examined.",
        State::Actioned => "A report was decided: something was done, for the reasons it gives.",
        State::Dismissed => "A report was decided: nothing was done, for the reasons it gives.",
        State::Appealed => "A decision about a report was appealed.",
        State::Upheld => "An appeal was decided: the decision stands.",
        State::Overturned => "An appeal was decided: the decision is reversed.",
    }
}
