//! The ways to a higher maturity: the steps of the feeds' table, as data.

use crate::{
    feed::SignalKind::{self, Funding, Hiring},
    states::Maturity::{
        self, Confirmed, Corroborated, Lead, SourceBacked, Stale, Unsourced, Verified,
    },
};
use portolan_sdk::prelude::*;

/// One way to a higher maturity.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Requirement {
    /// The maturity that the signal reaches.
    pub(crate) to: Maturity,
    /// The kind of evidence that is needed, such as `open_role`.
    pub(crate) needs: &'static str,
    /// The needed evidence, as a sentence.
    what: &'static str,
    /// The action of this capability that adds the evidence; null if the feeds find it themselves.
    action: Option<&'static str>,
}

/// The kind of the signal, the maturities from which the way leads, and the way.
type Row = (SignalKind, &'static [Maturity], Requirement);

const fn row(
    kind: SignalKind,
    from: &'static [Maturity],
    to: Maturity,
    needs: &'static str,
    action: Option<&'static str>,
    what: &'static str,
) -> Row {
    (kind, from, Requirement { to, needs, what, action })
}

const SUBMIT: Option<&str> = Some("submit_evidence");
const CONFIRM: Option<&str> = Some("confirm");

const NAMED: &str = "An address that names the company and tells of the round.";
const FILED: &str = "A filing with a regulator.";
const ANNOUNCED: &str = "Announcements of the company and of an investor, each on its own domain.";
const OWNER_CONFIRMS_SOURCED: &str =
    "A confirmation by a person who speaks for the company, once there is a source.";
const REPEATED: &str = "Another publisher under another domain. The signal stays a lead.";
const OPEN: &str = "A matching role on the company's own board, read in the last 72 hours.";
const OWNER_CONFIRMS: &str = "A confirmation by a person who speaks for the company.";
const REOPENED: &str = "A role that is back on the company's own board.";

const REQUIREMENTS: [Row; 8] = [
    row(Funding, &[Unsourced], SourceBacked, "source", SUBMIT, NAMED),
    row(Funding, &[SourceBacked], Confirmed, "filing", None, FILED),
    row(Funding, &[SourceBacked], Confirmed, "both_sides", None, ANNOUNCED),
    row(
        Funding,
        &[Unsourced, SourceBacked],
        Confirmed,
        "owner_confirms",
        CONFIRM,
        OWNER_CONFIRMS_SOURCED,
    ),
    row(Hiring, &[Lead], Corroborated, "second_publisher", SUBMIT, REPEATED),
    row(Hiring, &[Lead, Corroborated], Verified, "open_role", None, OPEN),
    row(Hiring, &[Lead, Corroborated], Verified, "owner_confirms", CONFIRM, OWNER_CONFIRMS),
    row(Hiring, &[Stale], Verified, "open_role", None, REOPENED),
];

/// Returns the ways to a higher maturity, one of which is enough. A signal that has the highest
/// maturity, is retracted, or waits for a review has none.
pub(crate) fn missing(kind: SignalKind, maturity: Maturity) -> Vec<Requirement> {
    let fits = |row: &&Row| row.0 == kind && row.1.contains(&maturity);
    REQUIREMENTS.iter().filter(fits).map(|row| row.2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_maturity_lacks_what_leads_higher() {
        for (kind, maturity, needs) in [
            (Hiring, Lead, &["second_publisher", "open_role", "owner_confirms"][..]),
            (Hiring, Corroborated, &["open_role", "owner_confirms"]),
            (Funding, Unsourced, &["source", "owner_confirms"]),
            (Hiring, Verified, &[]),
            (Funding, Maturity::Disputed, &[]),
            (Hiring, Maturity::Disputed, &[]),
        ] {
            let missing: Vec<_> =
                missing(kind, maturity).iter().map(|requirement| requirement.needs).collect();
            assert_eq!(missing, needs, "{kind:?} {maturity:?}");
        }
    }

    #[test]
    fn no_requirement_leads_back() {
        for (_, from, requirement) in REQUIREMENTS {
            assert!(!from.contains(&requirement.to), "{}", requirement.needs);
            assert!([SUBMIT, CONFIRM, None].contains(&requirement.action), "{}", requirement.needs);
        }
    }
}
