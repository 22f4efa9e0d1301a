//! Inputs as the descriptor shows them.

use crate::types::*;
use people_kit::{
    listings::{Place, Precision},
    taxonomy::{Criteria, Criterion, Operator, Side},
};
use portolan_sdk::prelude::*;
use serde_json::json;

const SESSION: &str = "mse_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const LISTING: &str = "lst_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const CANDIDATE: &str = "cand_01JZX8Q4M2N6P7R8S9T0V1W2X3";

impl Preview {
    pub(crate) fn example() -> Self {
        let attributes = json!({
            "employment_types": ["FULL_TIME"], "skills": ["rust", "sql"], "seniority": "senior",
        });
        let draft = Draft {
            category: "work.candidate.software".into(),
            side: Side::Demand,
            title: "Backend engineer".into(),
            attributes: attributes.as_object().cloned().unwrap_or_default(),
            criteria: Criteria {
                must: Vec::new(),
                want: vec![Criterion {
                    field: "remote".into(),
                    op: Operator::Eq,
                    value: true.into(),
                    weight: Some(2.0),
                }],
            },
            place: Some(Place {
                lat: 37.77,
                lng: -122.42,
                label: Some("San Francisco".into()),
                precision: Precision::City,
            }),
            remote: false,
            compensation: None,
        };
        Self { listing_draft: Some(draft), listing_id: None, limit: 5 }
    }
}

impl Create {
    pub(crate) fn example() -> Self {
        Self {
            listing_id: LISTING.into(),
            mode: Mode::Stream,
            round_id: None,
            criteria_override: None,
            batch_size: 10,
            ttl_hours: 336,
            capacity: 1,
        }
    }
}

impl SessionId {
    pub(crate) fn example() -> Self {
        Self { session_id: SESSION.into() }
    }
}

impl Step {
    pub(crate) fn example() -> Self {
        Self { session_id: SESSION.into(), expected_version: None }
    }
}

impl Candidates {
    pub(crate) fn example() -> Self {
        Self { session_id: SESSION.into(), state: None, page: PageInput::default() }
    }
}

impl Decide {
    pub(crate) fn example() -> Self {
        Self {
            session_id: SESSION.into(),
            candidate_id: CANDIDATE.into(),
            decision: Decision::Interested,
            reason_code: None,
        }
    }
}

impl Rank {
    pub(crate) fn example() -> Self {
        Self {
            session_id: SESSION.into(),
            ordered_candidate_ids: vec![CANDIDATE.into()],
            only_these: true,
        }
    }
}

impl Confirm {
    pub(crate) fn example() -> Self {
        Self { session_id: SESSION.into(), candidate_id: None, accept: true }
    }
}

impl Refine {
    pub(crate) fn example() -> Self {
        let patch = Patch { criteria: None, batch_size: Some(5) };
        Self { session_id: SESSION.into(), patch, expected_version: None }
    }
}
