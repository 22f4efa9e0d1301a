//! Makes the targets: the organisations, with the records that refer to them.

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

/// How many of an organisation's terms and asks are listed, of each kind.
const MOST_TERMS: usize = 20;

/// The records that refer to targets.
pub(super) struct Related<'a> {
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
    related: &Related<'_>,
) -> Vec<Feature> {
    let mut features: Vec<Feature> = town
        .places()
        .iter()
        .map(|place| {
            let read_at = state.sources.get(place.source).and_then(|kept| kept.read_at);
            feature(place, source(sources, place, read_at.unwrap_or(related.now)), related)
        })
        .collect();
    features.sort_by(|one, other| one.id.cmp(&other.id));
    features
}

fn source(sources: &Sources, place: &Place<'_>, read_at: Timestamp) -> Source {
    let organisation = place.organisation;
    let registry = sources.registry.iter().find(|registry| registry.id == place.source);
    Source {
        id: stable("src", &[place.source, &organisation.slug]),
        kind: SourceType::Directory,
        publisher: registry.map_or(place.source, |registry| &registry.publisher).to_owned(),
        url: organisation.url.clone(),
        title: organisation.name.clone(),
        published_at: None,
        retrieved_at: read_at,
        excerpt: line(&organisation.tagline, 300),
        sha256: sha256(serde_json::to_string(organisation).unwrap_or_default().as_bytes()),
        license: registry.and_then(|registry| registry.license.clone()),
        attribution: registry.and_then(|registry| registry.attribution.clone()),
    }
}

fn feature(place: &Place<'_>, source: Source, related: &Related<'_>) -> Feature {
    let organisation = place.organisation;
    let id = &place.target_id;
    let signals: Vec<&Signal> =
        related.signals.iter().filter(|signal| signal.target_id == *id).collect();
    let roles = related.roles.iter().filter(|role| role.target_id == *id).count();
    let people = related.founders.people.iter().filter(|person| person.target_id == *id);
    let (accelerator, listed) = related.founders.accelerators.get(id).cloned().unzip();
    Feature {
        kind: "Feature".to_owned(),
        id: id.clone(),
        geometry: Geometry {
            kind: "Point".to_owned(),
            coordinates: [organisation.lng, organisation.lat],
        },
        properties: Target {
            name: organisation.name.clone(),
            legal_name: organisation.legal_name.clone(),
            kind: organisation.kind,
            ask: asks(place, &signals),
            tagline: organisation.tagline.clone(),
            description: organisation.description.clone(),
            industries: organisation.industries.iter().take(MOST_TERMS).cloned().collect(),
            tags: organisation.tags.iter().take(MOST_TERMS).cloned().collect(),
            stage: organisation.stage,
            founded_year: organisation.founded_year,
            team_size_band: organisation.team_size_band.clone(),
            status: organisation.status,
            website: organisation.website.clone(),
            logo_url: organisation.logo_url.clone(),
            geo: TargetGeo {
                lat: organisation.lat,
                lng: organisation.lng,
                precision: organisation.precision,
                neighbourhood: organisation.neighbourhood.clone(),
            },
            accelerator,
            funding_summary: funding(&signals),
            open_roles_count: u32::try_from(roles).unwrap_or(u32::MAX),
            people_ids: people.map(|person| person.id.clone()).collect(),
            signal_ids: signals.iter().map(|signal| signal.id.clone()).collect(),
            verified_owner: related.verified_owners.contains(id),
            handoff_ids: related.handoff_ids.to_vec(),
            sources: std::iter::once(source).chain(listed).collect(),
            first_seen_at: related.now,
            updated_at: related.now,
        },
    }
}

/// Returns the organisation's own asks, and hiring if there is a signal for it.
fn asks(place: &Place<'_>, signals: &[&Signal]) -> Vec<Ask> {
    let live = |signal: &&&Signal| signal.kind == SignalKind::Hiring && !signal.maturity.is_over();
    let hiring = signals.iter().filter(live).max_by_key(|signal| signal.maturity);
    let said = place.organisation.asks.iter().take(MOST_TERMS).map(|wish| Ask {
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
        && !asks.iter().any(|ask| ask.kind == AskType::Hiring)
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

/// Returns the sum of the rounds in US dollars. Its maturity is the lowest of the rounds.
fn funding(signals: &[&Signal]) -> Option<FundingSummary> {
    let counts = |signal: &&&Signal| {
        signal.kind == SignalKind::Funding
            && !matches!(signal.maturity, Maturity::Retracted | Maturity::Disputed)
            && !matches!(
                signal.maturity,
                Maturity::Lead | Maturity::Corroborated | Maturity::Expired
            )
    };
    let rounds: Vec<&&Signal> = signals.iter().filter(counts).collect();
    let last = rounds.iter().max_by_key(|signal| signal.occurred_at)?;
    let amounts = rounds.iter().filter_map(|signal| signal.funding.as_ref()?.amount_usd);
    let total = amounts.fold(0, u64::saturating_add);
    Some(FundingSummary {
        total_usd: (total > 0).then_some(total),
        last_round: last.funding.as_ref().and_then(|funding| funding.round.clone()),
        as_of: last.occurred_at,
        maturity: rounds.iter().map(|signal| signal.maturity).min()?,
    })
}
