//! The organisations, with everything that names them.

use super::town::{Place, Town};
use crate::{
    identifier::{sha256, stable},
    join::people::Founders,
    maturity::Maturity,
    record::{
        Ask, AskType, Feature, FundingSummary, Geometry, Role, Signal, SignalKind, Source,
        SourceType, Target, TargetGeo,
    },
    sources::Sources,
    state::State,
    text::line,
    timestamp::Timestamp,
};
use std::collections::BTreeSet;

/// Everything that names targets.
pub(super) struct Around<'a> {
    pub(super) signals: &'a [Signal],
    pub(super) roles: &'a [Role],
    pub(super) founders: &'a Founders,
    pub(super) verified_owners: &'a BTreeSet<String>,
    pub(super) handoff_ids: &'a [String],
    pub(super) now: Timestamp,
}

pub(super) fn targets(
    sources: &Sources,
    state: &State,
    town: &Town<'_>,
    around: &Around<'_>,
) -> Vec<Feature> {
    let mut features: Vec<Feature> = town
        .places()
        .iter()
        .map(|place| {
            let read_at = state.sources.get(place.source).and_then(|it| it.read_at);
            feature(place, source(sources, place, read_at.unwrap_or(around.now)), around)
        })
        .collect();
    features.sort_by(|one, other| one.id.cmp(&other.id));
    features
}

fn source(sources: &Sources, place: &Place<'_>, read_at: Timestamp) -> Source {
    let organisation = place.organisation;
    let registry = sources.registry.iter().find(|it| it.id == place.source);
    Source {
        id: stable("src", &[place.source, &organisation.slug]),
        kind: SourceType::Directory,
        publisher: registry.map_or(place.source, |it| &it.publisher).to_owned(),
        url: organisation.url.clone(),
        title: organisation.name.clone(),
        published_at: None,
        retrieved_at: read_at,
        excerpt: line(&organisation.tagline, 300),
        sha256: sha256(serde_json::to_string(organisation).unwrap_or_default().as_bytes()),
    }
}

fn feature(place: &Place<'_>, source: Source, around: &Around<'_>) -> Feature {
    let it = place.organisation;
    let id = &place.target_id;
    let signals: Vec<&Signal> = around.signals.iter().filter(|it| it.target_id == *id).collect();
    let roles = around.roles.iter().filter(|it| it.target_id == *id).count();
    let people = around.founders.people.iter().filter(|it| it.target_id == *id);
    let (accelerator, listed) = around.founders.accelerators.get(id).cloned().unzip();
    Feature {
        kind: "Feature".to_owned(),
        id: id.clone(),
        geometry: Geometry { kind: "Point".to_owned(), coordinates: [it.lng, it.lat] },
        properties: Target {
            name: it.name.clone(),
            legal_name: it.legal_name.clone(),
            kind: it.kind,
            ask: asks(place, &signals),
            tagline: it.tagline.clone(),
            description: it.description.clone(),
            industries: it.industries.clone(),
            tags: it.tags.clone(),
            stage: it.stage,
            founded_year: it.founded_year,
            team_size_band: it.team_size_band.clone(),
            status: it.status,
            website: it.website.clone(),
            logo_url: it.logo_url.clone(),
            geo: TargetGeo {
                lat: it.lat,
                lng: it.lng,
                precision: it.precision,
                neighbourhood: it.neighbourhood.clone(),
            },
            accelerator,
            funding_summary: funding(&signals),
            open_roles_count: u32::try_from(roles).unwrap_or(u32::MAX),
            people_ids: people.map(|it| it.id.clone()).collect(),
            signal_ids: signals.iter().map(|it| it.id.clone()).collect(),
            verified_owner: around.verified_owners.contains(id),
            handoff_ids: around.handoff_ids.to_vec(),
            sources: std::iter::once(source).chain(listed).collect(),
            first_seen_at: around.now,
            updated_at: around.now,
        },
    }
}

/// What it says itself, and hiring as far as a signal says so.
fn asks(place: &Place<'_>, signals: &[&Signal]) -> Vec<Ask> {
    let live = |it: &&&Signal| it.kind == SignalKind::Hiring && !it.maturity.is_over();
    let hiring = signals.iter().filter(live).max_by_key(|it| it.maturity);
    let said = place.organisation.asks.iter().map(|wish| Ask {
        kind: wish.kind,
        text: wish.text.clone(),
        since: wish.since,
        maturity: match (wish.kind, hiring) {
            (AskType::Hiring, Some(signal)) => signal.maturity,
            (AskType::Hiring, None) => Maturity::Lead,
            _ => Maturity::SourceBacked,
        },
    });
    let mut asks: Vec<Ask> = said.collect();
    if let Some(signal) = hiring
        && !asks.iter().any(|it| it.kind == AskType::Hiring)
    {
        asks.push(Ask {
            kind: AskType::Hiring,
            text: line(&signal.headline, 200),
            since: signal.occurred_at,
            maturity: signal.maturity,
        });
    }
    asks
}

/// The sum of what is told in dollars; as sure as the least sure of it.
fn funding(signals: &[&Signal]) -> Option<FundingSummary> {
    let counts = |it: &&&Signal| {
        it.kind == SignalKind::Funding
            && !matches!(it.maturity, Maturity::Retracted | Maturity::Disputed)
    };
    let rounds: Vec<&&Signal> = signals.iter().filter(counts).collect();
    let last = rounds.iter().max_by_key(|it| it.occurred_at)?;
    let amounts = rounds.iter().filter_map(|it| it.funding.as_ref()?.amount_usd);
    let total = amounts.fold(0, u64::saturating_add);
    Some(FundingSummary {
        total_usd: (total > 0).then_some(total),
        last_round: last.funding.as_ref().and_then(|it| it.round.clone()),
        as_of: last.occurred_at,
        maturity: rounds.iter().map(|it| it.maturity).min()?,
    })
}
