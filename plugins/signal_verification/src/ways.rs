//! The ways to a higher maturity: the steps of the feeds' table, as data.

use crate::{
    feed::SignalKind,
    life::Maturity::{
        self, Confirmed, Corroborated, Lead, SourceBacked, Stale, Unsourced, Verified,
    },
};
use portolan_sdk::prelude::*;

/// One way to a higher maturity.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Way {
    /// The maturity that the signal reaches.
    pub(crate) to: Maturity,
    /// The kind of evidence that is needed, such as `open_role`.
    pub(crate) needs: &'static str,
    /// The same as a sentence.
    what: &'static str,
    /// The action of this capability that adds it; null if the feeds find it themselves.
    action: Option<&'static str>,
}

struct Row {
    kinds: &'static [SignalKind],
    from: &'static [Maturity],
    way: Way,
}

const FUNDING: &[SignalKind] = &[SignalKind::Funding];
const HIRING: &[SignalKind] = &[SignalKind::Hiring];

const fn way(
    to: Maturity,
    needs: &'static str,
    what: &'static str,
    action: Option<&'static str>,
) -> Way {
    Way { to, needs, what, action }
}

const WAYS: &[Row] = &[
    Row {
        kinds: FUNDING,
        from: &[Unsourced],
        way: way(
            SourceBacked,
            "source",
            "An address that names the company and tells of the round.",
            Some("submit_evidence"),
        ),
    },
    Row {
        kinds: FUNDING,
        from: &[SourceBacked],
        way: way(Confirmed, "filing", "A filing with a regulator.", None),
    },
    Row {
        kinds: FUNDING,
        from: &[SourceBacked],
        way: way(
            Confirmed,
            "both_sides",
            "Announcements of the company and of an investor, each on its own domain.",
            None,
        ),
    },
    Row {
        kinds: FUNDING,
        from: &[Unsourced, SourceBacked],
        way: way(
            Confirmed,
            "owner_confirms",
            "The word of whoever speaks for the company, once there is a source.",
            Some("confirm"),
        ),
    },
    Row {
        kinds: HIRING,
        from: &[Lead],
        way: way(
            Corroborated,
            "second_publisher",
            "Another publisher under another domain. It stays a lead.",
            Some("submit_evidence"),
        ),
    },
    Row {
        kinds: HIRING,
        from: &[Lead, Corroborated],
        way: way(
            Verified,
            "open_role",
            "A matching role on the company's own board, read in the last 72 hours.",
            None,
        ),
    },
    Row {
        kinds: HIRING,
        from: &[Lead, Corroborated],
        way: way(
            Verified,
            "owner_confirms",
            "The word of whoever speaks for the company.",
            Some("confirm"),
        ),
    },
    Row {
        kinds: HIRING,
        from: &[Stale],
        way: way(Verified, "open_role", "A role that is back on the company's own board.", None),
    },
];

/// Returns the ways to a higher maturity, one of which is enough; none for a signal that has the
/// highest maturity, is retracted, or waits for a review.
pub(crate) fn missing(kind: SignalKind, maturity: Maturity) -> Vec<Way> {
    let fits = |row: &&Row| row.kinds.contains(&kind) && row.from.contains(&maturity);
    WAYS.iter().filter(fits).map(|row| row.way).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(kind: SignalKind, maturity: Maturity) -> Vec<&'static str> {
        missing(kind, maturity).iter().map(|way| way.needs).collect()
    }

    #[test]
    fn a_lead_lacks_a_role_or_the_companys_word() {
        let lead = needs(SignalKind::Hiring, Lead);
        assert_eq!(lead, ["second_publisher", "open_role", "owner_confirms"]);
        assert_eq!(needs(SignalKind::Hiring, Corroborated), ["open_role", "owner_confirms"]);
        assert_eq!(needs(SignalKind::Funding, Unsourced), ["source", "owner_confirms"]);
        assert_eq!(needs(SignalKind::Hiring, Verified), Vec::<&str>::new());
    }

    #[test]
    fn ways_start_at_maturities_of_the_kind() {
        for kind in [SignalKind::Funding, SignalKind::Hiring] {
            assert_eq!(needs(kind, Maturity::Disputed), Vec::<&str>::new());
        }
        for row in WAYS {
            let actions = ["submit_evidence", "confirm"];
            assert!(
                row.way.action.is_none_or(|action| actions.contains(&action)),
                "{}",
                row.way.needs
            );
            assert!(!row.from.contains(&row.way.to), "{}", row.way.needs);
        }
    }
}
