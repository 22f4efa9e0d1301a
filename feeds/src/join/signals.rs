//! Makes the signals: joins the items of syndication feeds and the open roles on boards with the former
//! signals, and updates the maturity of each.

use super::{
    evidence::{Evidence, EvidenceKind, Knowledge},
    hearing::Heard,
    roles::Open,
    town::{Town, registrable_domain},
};
use crate::{
    claims::{Modality, Predicate},
    identifier::stable,
    maturity::{Facts, Maturity, advance},
    record::{
        Funding, Hiring, HiringEvidence, Investor, Role, RoleMaturity, Signal, SignalKind, Source,
        SourceType,
    },
    text::line,
    timestamp::{Timestamp, days},
};
use std::{collections::BTreeSet, time::Duration};

/// Funding news that is further apart than this is about different rounds.
const ONE_ROUND: Duration = days(30);
/// How many sources of one publisher a signal cites, and how many investors it names.
const MOST_OF_PUBLISHER: usize = 10;
const MOST_INVESTORS: usize = 30;
/// How long a signal that has ended stays in the feed. An item older than this
/// begins no hiring signal.
const REMEMBERED: Duration = days(90);

/// What all signals are made from.
pub(super) struct Context<'a> {
    pub(super) town: &'a Town<'a>,
    pub(super) open: &'a Open,
    pub(super) knowledge: &'a Knowledge,
    pub(super) handoff_ids: &'a [String],
    /// The handoffs of signals whose investor is on the map.
    pub(super) funding_handoff_ids: &'a [String],
    pub(super) now: Timestamp,
}

/// What one item or one board says about a target's funding or hiring.
struct Report {
    kind: SignalKind,
    target_id: String,
    /// The identifier of the item or the board as a source. An item without a URL has one too,
    /// although its `source` is `None`.
    key: String,
    source: Option<Source>,
    at: Timestamp,
    headline: String,
    summary: String,
    funding: Option<Funding>,
    functions: Vec<String>,
    /// The words that say so, and how sure they are; `None` for a board.
    evidence: Option<String>,
    modality: Option<Modality>,
    board: bool,
}

/// Returns all signals: the former ones, updated, and new ones.
pub(super) fn signals(
    former: Vec<Signal>,
    heard: &[Heard<'_>],
    context: &Context<'_>,
) -> Vec<Signal> {
    let known = |signal: &Signal| context.town.with_id(&signal.target_id).is_some();
    let mut signals: Vec<Signal> = former.into_iter().filter(known).collect();
    let boards = boards(context);
    for report in heard.iter().filter_map(|item| report(item, context)).chain(boards) {
        add(&mut signals, report, context.now);
    }
    let stops: Vec<&Heard<'_>> = heard.iter().filter(|item| item.stops_hiring).collect();
    for signal in &mut signals {
        update(signal, &stops, context);
    }
    signals.retain(|signal| !is_outdated(signal, context.now));
    signals.sort_by(|one, other| (other.occurred_at, &one.id).cmp(&(one.occurred_at, &other.id)));
    signals
}

fn report(heard: &Heard<'_>, context: &Context<'_>) -> Option<Report> {
    let (place, claim) = (heard.about?, heard.signal.as_ref()?);
    let kind = match claim.predicate {
        Predicate::RaisedFunding => SignalKind::Funding,
        Predicate::IsHiring if context.now.since(heard.at) < REMEMBERED => SignalKind::Hiring,
        _ => return None,
    };
    let value = claim.amount.as_ref().map(|amount| amount.value);
    let currency = claim.amount.as_ref().and_then(|amount| amount.currency);
    let funding = (kind == SignalKind::Funding).then(|| Funding {
        round: claim.round.clone(),
        amount_usd: value.filter(|_| currency == Some("USD")),
        currency: currency.map(str::to_owned),
        amount: value,
        investors: (claim.investors.iter().take(MOST_INVESTORS))
            .map(|(name, lead)| Investor {
                name: name.clone(),
                target_id: context.town.with_name(name).map(|place| place.target_id.clone()),
                lead: *lead,
            })
            .collect(),
        announced_on: Some(heard.at),
        filing_ref: heard.is_filing().then(|| heard.source_id.clone()),
    });
    Some(Report {
        kind,
        target_id: place.target_id.clone(),
        key: heard.source_id.clone(),
        source: heard.source.clone(),
        at: heard.at,
        headline: heard.item.title.clone(),
        summary: line(&heard.item.text, 600),
        funding,
        functions: heard.functions.iter().map(|function| (*function).to_owned()).collect(),
        evidence: Some(line(&claim.evidence, 240)).filter(|evidence| !evidence.is_empty()),
        modality: Some(claim.modality),
        board: false,
    })
}

/// Returns a statement for each company with open roles on its own board: that shows that it is
/// hiring, even if no item says so.
fn boards(context: &Context<'_>) -> Vec<Report> {
    let seen = |role: &&Role| role.maturity == RoleMaturity::Verified;
    let targets: BTreeSet<&String> =
        context.open.roles.iter().filter(seen).map(|role| &role.target_id).collect();
    let reports = targets.into_iter().filter_map(|target_id| {
        let name = &context.town.with_id(target_id)?.organisation.name;
        let mine =
            || context.open.roles.iter().filter(seen).filter(|role| role.target_id == *target_id);
        let role = mine().next()?;
        let functions: BTreeSet<&String> = mine().map(|role| &role.function).collect();
        let board = role.sources.first()?;
        let source = Source {
            id: stable(
                "src",
                &["board", &serde_json::to_string(&role.ats).ok()?, &role.board_token],
            ),
            title: format!("{name}: open roles"),
            excerpt: role.title.clone(),
            ..board.clone()
        };
        Some(Report {
            kind: SignalKind::Hiring,
            target_id: target_id.clone(),
            key: source.id.clone(),
            at: role.date_posted.unwrap_or(context.now),
            source: Some(source),
            headline: format!("{name} is hiring"),
            summary: String::new(),
            funding: None,
            functions: functions.into_iter().cloned().collect(),
            evidence: None,
            modality: None,
            board: true,
        })
    });
    reports.collect()
}

/// Adds a statement to the signal to which it belongs, or begins a new signal.
fn add(signals: &mut Vec<Signal>, report: Report, now: Timestamp) {
    let same =
        |signal: &&mut Signal| signal.kind == report.kind && signal.target_id == report.target_id;
    let mine: Vec<&mut Signal> = signals.iter_mut().filter(same).collect();
    let count = mine.len();
    let own_id = stable("sig", &[&report.key]);
    let heard_before = mine.iter().any(|signal| {
        let cites = signal.sources.iter().any(|source| source.id == report.key);
        let same_again = report.source.is_none() && signal.id == own_id;
        same_again || (cites && !(report.board && signal.maturity.is_over()))
    });
    if heard_before || mine.iter().any(|signal| is_retracted(signal, &report)) {
        return;
    }
    // An item that had no URL when it began the signal may have one now.
    let began_here = |signal: &Signal| signal.id == own_id && !report.board;
    if let Some(signal) =
        mine.into_iter().find(|signal| began_here(signal) || belongs(signal, &report))
    {
        join(signal, report);
        return;
    }
    let id = match (report.board, count) {
        (true, 1..) => stable("sig", &[&report.key, &count.to_string()]),
        _ => own_id,
    };
    signals.push(new_signal(id, report, now));
}

/// Returns whether the statement is a board's and not newer than the signal's retraction: only a
/// newer role can begin another signal.
fn is_retracted(signal: &Signal, report: &Report) -> bool {
    let last = signal.maturity_history.last();
    report.board && last.is_some_and(|step| step.to == Maturity::Retracted && report.at <= step.at)
}

/// Returns whether the statement is about the same round or the same hiring as the signal.
fn belongs(signal: &Signal, report: &Report) -> bool {
    match (report.kind, &signal.funding, &report.funding) {
        (SignalKind::Funding, Some(known), Some(new)) => {
            let rounds = known.round.as_ref().zip(new.round.as_ref());
            let near = signal.occurred_at.since(report.at).max(report.at.since(signal.occurred_at));
            rounds.is_none_or(|(one, other)| one == other) && near <= ONE_ROUND
        }
        (SignalKind::Hiring, ..) => {
            let is_same_work = |hiring: &Hiring| {
                hiring.functions.is_empty()
                    || hiring.evidence == HiringEvidence::AtsBoard
                    || hiring.functions.iter().any(|function| report.functions.contains(function))
            };
            let fits = !report.board || signal.hiring.as_ref().is_some_and(is_same_work);
            !signal.maturity.is_over() && fits
        }
        _ => false,
    }
}

fn join(signal: &mut Signal, report: Report) {
    // An announcement is surer than a report; a signal of an earlier version has no modality.
    if signal.modality == Some(Modality::Reported) && report.modality == Some(Modality::Announced) {
        signal.modality = report.modality;
        signal.evidence.clone_from(&report.evidence);
    }
    let publisher = report.source.as_ref().map(|source| &source.publisher);
    let cited = signal.sources.iter().filter(|source| Some(&source.publisher) == publisher);
    if cited.count() < MOST_OF_PUBLISHER {
        signal.sources.extend(report.source);
    }
    signal.occurred_at = signal.occurred_at.min(report.at);
    if let (Some(known), Some(new)) = (&mut signal.funding, report.funding) {
        known.round = known.round.take().or(new.round);
        if known.amount.is_none() {
            known.amount = new.amount;
            known.amount_usd = new.amount_usd;
            known.currency = new.currency;
        }
        known.filing_ref = known.filing_ref.take().or(new.filing_ref);
        for investor in new.investors {
            let is_new = !known.investors.iter().any(|listed| listed.name == investor.name);
            if is_new && known.investors.len() < MOST_INVESTORS {
                known.investors.push(investor);
            }
        }
    }
    if let Some(hiring) = signal.hiring.as_mut().filter(|_| !report.board) {
        for function in report.functions {
            if !hiring.functions.contains(&function) {
                hiring.functions.push(function);
            }
        }
    }
}

fn new_signal(id: String, report: Report, now: Timestamp) -> Signal {
    let evidence = match &report.source {
        _ if report.board => HiringEvidence::AtsBoard,
        Some(source) if source.kind == SourceType::CompanySite => HiringEvidence::CareersPage,
        _ => HiringEvidence::Post,
    };
    let hiring = (report.kind == SignalKind::Hiring).then_some(Hiring {
        role_count: 0,
        functions: if report.board { Vec::new() } else { report.functions },
        role_ids: Vec::new(),
        evidence,
    });
    Signal {
        id,
        kind: report.kind,
        target_id: report.target_id,
        headline: report.headline,
        summary: report.summary,
        occurred_at: report.at,
        detected_at: now,
        // This is a placeholder: `update` sets the maturity in the same build.
        maturity: Maturity::Unsourced,
        maturity_history: Vec::new(),
        confidence: 0.0,
        label: String::new(),
        sources: report.source.into_iter().collect(),
        funding: report.funding,
        hiring,
        evidence: report.evidence,
        modality: report.modality,
        handoff_ids: Vec::new(),
        first_seen_at: now,
        updated_at: now,
    }
}

/// Updates a signal's maturity: applies the table to the facts, and then with each statement of people.
fn update(signal: &mut Signal, stops: &[&Heard<'_>], context: &Context<'_>) {
    let matching = matching(signal, context);
    let (more, said): (Vec<&Evidence>, Vec<&Evidence>) = (context.knowledge.about(signal))
        .into_iter()
        .partition(|evidence| evidence.kind == EvidenceKind::Supports);
    more.iter().for_each(|evidence| evidence.cite(signal, context.now));
    let publishers: BTreeSet<String> = more.iter().map(|evidence| evidence.source_id()).collect();
    let mut facts = facts(signal, &matching, &publishers, context);
    facts.stopped = stopped(signal, stops);
    // The facts come first: a statement is about a signal that already has a maturity.
    advance(signal.kind, &mut signal.maturity_history, &facts);
    for statement in said {
        if statement.is_answered(signal) {
            continue;
        }
        statement.cite(signal, context.now);
        let with = statement.added_to(&facts, signal);
        advance(signal.kind, &mut signal.maturity_history, &with);
        facts.last_evidence_at = facts.last_evidence_at.max(statement.at.min(context.now));
    }
    let state = signal.maturity_history.last().map(|step| step.to);
    signal.maturity = state.unwrap_or(Maturity::Unsourced);
    signal.label = signal.maturity.label().to_owned();
    signal.confidence = signal.maturity.confidence();
    if let Some(funding) = &mut signal.funding {
        funding.investors.truncate(MOST_INVESTORS);
    }
    let mut investors = signal.funding.iter().flat_map(|funding| &funding.investors);
    let handoff_ids = match investors.any(|investor| investor.target_id.is_some()) {
        true => context.funding_handoff_ids,
        false => context.handoff_ids,
    };
    signal.handoff_ids = handoff_ids.to_vec();
    if let Some(hiring) = &mut signal.hiring {
        let over = signal.maturity.is_over();
        hiring.role_ids = matching.iter().filter(|_| !over).map(|role| role.id.clone()).collect();
        hiring.role_count = u32::try_from(hiring.role_ids.len()).unwrap_or(u32::MAX);
        if !matching.is_empty() && !over {
            hiring.evidence = HiringEvidence::AtsBoard;
            let functions: BTreeSet<&str> =
                matching.iter().map(|role| role.function.as_str()).collect();
            let functions = functions.into_iter().collect::<Vec<_>>().join(", ");
            signal.summary = format!(
                "{} open on the company's own board: {functions}",
                count(hiring.role_count)
            );
        } else if matches!(signal.maturity, Maturity::Stale | Maturity::Closed) {
            signal.summary = "No role is open on the company's own board any more".to_owned();
        } else if signal.maturity == Maturity::Verified {
            hiring.evidence = HiringEvidence::Owner;
        }
    }
}

/// Returns the source of a later statement that the company is not hiring.
fn stopped(signal: &Signal, stops: &[&Heard<'_>]) -> Option<String> {
    let last = signal.sources.iter().filter_map(|source| source.published_at).max();
    let last = last.unwrap_or(signal.occurred_at);
    let later = |item: &&&Heard<'_>| {
        let about = item.about.is_some_and(|place| place.target_id == signal.target_id);
        about && item.at > last && item.source.is_some()
    };
    stops.iter().find(later).map(|item| item.source_id.clone())
}

fn count(roles: u32) -> String {
    if roles == 1 { "1 role".to_owned() } else { format!("{roles} roles") }
}

/// Returns the roles on the target's own boards that match the signal's kinds of work.
fn matching<'a>(signal: &Signal, context: &'a Context<'_>) -> Vec<&'a Role> {
    let Some(hiring) = &signal.hiring else { return Vec::new() };
    let is_same_work = |role: &&Role| {
        hiring.functions.is_empty()
            || hiring.evidence == HiringEvidence::AtsBoard
            || hiring.functions.contains(&role.function)
    };
    let mine = context.open.roles.iter().filter(|role| role.target_id == signal.target_id);
    mine.filter(is_same_work).collect()
}

/// Returns the facts about a signal. `publishers` are the identifiers of submitted sources that
/// count as publishers.
fn facts(
    signal: &Signal,
    matching: &[&Role],
    publishers: &BTreeSet<String>,
    context: &Context<'_>,
) -> Facts {
    let now = context.now;
    let domain = |source: &Source| registrable_domain(&source.url);
    let publishing =
        signal.sources.iter().filter(|source| was_read(source) || publishers.contains(&source.id));
    let first = publishing.clone().next();
    let second = publishing
        .clone()
        .find(|source| first.is_some_and(|first| domain(first) != domain(source)));
    let seen = matching.iter().any(|role| role.maturity == RoleMaturity::Verified);
    let heard = signal
        .sources
        .iter()
        .map(|source| source.published_at.unwrap_or(source.retrieved_at).min(now))
        .max();
    let had_roles = signal.hiring.as_ref().is_some_and(|hiring| !hiring.role_ids.is_empty());
    Facts {
        now,
        source: first.map(|source| source.id.clone()),
        confirmation: filing(signal).or_else(|| both_sides(signal, context)),
        second_publisher: second.map(|source| source.id.clone()),
        open_role_read_at: context.open.read_at.get(&signal.target_id).copied().filter(|_| seen),
        roles_left: had_roles && matching.is_empty(),
        reported: signal.modality == Some(Modality::Reported),
        stopped: None,
        owner_confirms: None,
        last_evidence_at: heard.unwrap_or(signal.occurred_at),
        objection: None,
        review: None,
    }
}

/// Returns whether a build has read the source; the other sources are statements and
/// submissions by people.
fn was_read(source: &Source) -> bool {
    source.kind != SourceType::Owner && source.kind != SourceType::Other
}

fn filing(signal: &Signal) -> Option<String> {
    let mut filings = signal.sources.iter().filter(|source| source.kind == SourceType::Filing);
    filings.next().map(|source| source.id.clone())
}

/// Returns the investor's source if both the company and an investor report the round, each on its own
/// domain.
fn both_sides(signal: &Signal, context: &Context<'_>) -> Option<String> {
    let of =
        |target_id: &str| context.town.with_id(target_id).and_then(|place| place.domain.clone());
    let own = of(&signal.target_id)?;
    let investors = signal
        .funding
        .as_ref()?
        .investors
        .iter()
        .filter_map(|investor| investor.target_id.as_deref());
    let investors: BTreeSet<String> = investors.filter_map(of).collect();
    let domains = |source: &Source| registrable_domain(&source.url);
    let read = || signal.sources.iter().filter(|source| was_read(source));
    read().find(|source| domains(source).as_ref() == Some(&own))?;
    let other =
        read().find(|source| domains(source).is_some_and(|domain| investors.contains(&domain)))?;
    Some(other.id.clone())
}

fn is_outdated(signal: &Signal, now: Timestamp) -> bool {
    let last = signal.maturity_history.last();
    signal.maturity.is_over() && last.is_some_and(|step| now.since(step.at) >= REMEMBERED)
}
