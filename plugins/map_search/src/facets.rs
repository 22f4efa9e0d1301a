//! Counts the records that a search finds.

use crate::{records::*, types::*};
use portolan_sdk::{documents::Counted, feeds::Feed};
use record_search::{NEIGHBOURHOOD, Plan, RecordType};

const TARGETS: [&str; 4] =
    ["properties.kind", "properties.ask[].type", "properties.stage", "properties.industries[]"];

/// Counts the matches of every searched type. The first path of each type has one value in each record, so its counts
/// are the number of records.
pub(crate) fn facets(plan: &Plan<'_>) -> Result<Facets> {
    let mut facets = Facets::default();
    for kind in &plan.types {
        let query = plan.query(*kind)?;
        let records = match kind {
            RecordType::Organisation => {
                let feed = Feed::<Record>::new("targets");
                let [kind, ask, stage, industry] = feed.count_by(TARGETS, query.clone())?;
                let [neighbourhood] = feed.count_by([NEIGHBOURHOOD], query)?;
                let records = sum(&kind);
                facets = Facets { kind, ask, stage, industry, neighbourhood, ..facets };
                records
            }
            RecordType::Role => {
                let paths = ["employment_type", "workplace_type", "function", "seniority"];
                let counts = Feed::<Record>::new("roles").count_by(paths, query)?;
                let [employment_type, workplace, function, seniority] = counts;
                let records = sum(&employment_type);
                facets.role = Some(RoleFacets { function, seniority, employment_type, workplace });
                records
            }
            RecordType::Person => {
                let paths = ["role_kind", "expertise[]"];
                let [role_kind, expertise] =
                    Feed::<Record>::new("people").count_by(paths, query)?;
                let records = sum(&role_kind);
                facets.person = Some(PersonFacets { role_kind, expertise });
                records
            }
            RecordType::Signal => {
                let paths = ["kind", "maturity"];
                let [kind, maturity] = Feed::<Record>::new("signals").count_by(paths, query)?;
                let records = sum(&kind);
                facets.signal = Some(SignalFacets { kind, maturity });
                records
            }
            RecordType::Event => {
                let [kind] = Feed::<Record>::new("events").count_by(["_map.type"], query)?;
                let records = sum(&kind);
                facets.event = Some(EventFacets { kind });
                records
            }
        };
        let value = portolan_sdk::to_value(kind);
        facets.types.extend((records > 0).then_some(Counted { value, count: records }));
    }
    Ok(facets)
}

fn sum(counts: &[Counted]) -> u64 {
    counts.iter().map(|counted| counted.count).sum()
}
