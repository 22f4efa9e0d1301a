//! Signals: what was heard and what boards show, joined with the signals there were, each moved
//! through the table of maturity.

use super::{
    evidence::{Evidence, EvidenceKind, Knowledge},
    hearing::{Heard, Subject},
    roles::Open,
    town::{Town, registrable_domain},
};
use crate::{
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

/// What is heard of a round so long after it is of another one.
const ONE_ROUND: Duration = days(30);
/// How long what is over stays in the feed; what is older is no news of hiring.
const REMEMBERED: Duration = days(90);

/// What everything is judged by.
pub(super) struct Ground<'a> {
    pub(super) town: &'a Town<'a>,
    pub(super) open: &'a Open,
    pub(super) knowledge: &'a Knowledge,
    pub(super) handoff_ids: &'a [String],
    pub(super) funding_handoff_ids: &'a [String],
    pub(super) now: Timestamp,
}

/// Something that is told about a target.
struct Told {
    kind: SignalKind,
    target_id: String,
    /// What it is known by, also without an address.
    key: String,
    source: Option<Source>,
    at: Timestamp,
    headline: String,
    summary: String,
    funding: Option<Funding>,
    functions: Vec<String>,
    board: bool,
}

/// All signals: the former ones, with what is new, and those that begin.
pub(super) fn signals(
    former: Vec<Signal>,
    heard: &[Heard<'_>],
    ground: &Ground<'_>,
) -> Vec<Signal> {
    let known = |signal: &Signal| ground.town.with_id(&signal.target_id).is_some();
    let mut signals: Vec<Signal> = former.into_iter().filter(known).collect();
    let boards = boards(ground);
    for told in heard.iter().filter_map(|it| told(it, ground)).chain(boards) {
        hear(&mut signals, told, ground.now);
    }
    for signal in &mut signals {
        settle(signal, ground);
    }
    signals.retain(|signal| !forgotten(signal, ground.now));
    signals.sort_by(|one, other| (other.occurred_at, &one.id).cmp(&(one.occurred_at, &other.id)));
    signals
}

fn told(heard: &Heard<'_>, ground: &Ground<'_>) -> Option<Told> {
    let place = heard.about?;
    let kind = match heard.subject {
        Subject::Funding => SignalKind::Funding,
        Subject::Hiring if ground.now.since(heard.at) < REMEMBERED => SignalKind::Hiring,
        _ => return None,
    };
    let funding = heard.money.as_ref().map(|money| Funding {
        round: money.round.clone(),
        amount_usd: money.amount.filter(|_| money.currency == Some("USD")),
        currency: money.currency.map(str::to_owned),
        amount: money.amount,
        investors: (money.investors.iter())
            .map(|(name, lead)| Investor {
                name: name.clone(),
                target_id: ground.town.with_name(name).map(|it| it.target_id.clone()),
                lead: *lead,
            })
            .collect(),
        announced_on: Some(heard.at),
        filing_ref: (heard.feed.kind == SourceType::Filing).then(|| heard.source_id.clone()),
    });
    Some(Told {
        kind,
        target_id: place.target_id.clone(),
        key: heard.source_id.clone(),
        source: heard.source.clone(),
        at: heard.at,
        headline: heard.item.title.clone(),
        summary: line(&heard.item.text, 600),
        funding,
        functions: heard.functions.iter().map(|it| (*it).to_owned()).collect(),
        board: false,
    })
}

/// A company with open roles on its own board is hiring, whoever else says so.
fn boards(ground: &Ground<'_>) -> Vec<Told> {
    let seen = |role: &&Role| role.maturity == RoleMaturity::Verified;
    let targets: BTreeSet<&String> =
        ground.open.roles.iter().filter(seen).map(|it| &it.target_id).collect();
    let told = targets.into_iter().filter_map(|target_id| {
        let name = &ground.town.with_id(target_id)?.organisation.name;
        let mine = || ground.open.roles.iter().filter(seen).filter(|it| it.target_id == *target_id);
        let role = mine().next()?;
        let functions: BTreeSet<&String> = mine().map(|it| &it.function).collect();
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
        Some(Told {
            kind: SignalKind::Hiring,
            target_id: target_id.clone(),
            key: source.id.clone(),
            at: role.date_posted.unwrap_or(ground.now),
            source: Some(source),
            headline: format!("{name} is hiring"),
            summary: String::new(),
            funding: None,
            functions: functions.into_iter().cloned().collect(),
            board: true,
        })
    });
    told.collect()
}

/// Adds it to the signal it belongs to, or begins one.
fn hear(signals: &mut Vec<Signal>, told: Told, now: Timestamp) {
    let same =
        |signal: &&mut Signal| signal.kind == told.kind && signal.target_id == told.target_id;
    let mine: Vec<&mut Signal> = signals.iter_mut().filter(same).collect();
    let count = mine.len();
    let alone = stable("sig", &[&told.key]);
    let heard_before = mine.iter().any(|it| {
        let cites = it.sources.iter().any(|source| source.id == told.key);
        let same_again = told.source.is_none() && it.id == alone;
        same_again || (cites && !(told.board && it.maturity.is_over()))
    });
    if heard_before || mine.iter().any(|it| is_answer_to(it, &told)) {
        return;
    }
    // What had no address may have got one.
    let grown = |it: &Signal| it.id == alone && !told.board;
    if let Some(signal) = mine.into_iter().find(|it| grown(it) || belongs(it, &told)) {
        join(signal, told);
        return;
    }
    let id = match (told.board, count) {
        (true, 1..) => stable("sig", &[&told.key, &count.to_string()]),
        _ => alone,
    };
    signals.push(begun(id, told, now));
}

/// A board does not revive what was found wrong, until it shows a newer role.
fn is_answer_to(signal: &Signal, told: &Told) -> bool {
    let last = signal.maturity_history.last();
    told.board && last.is_some_and(|step| step.to == Maturity::Retracted && told.at <= step.at)
}

fn belongs(signal: &Signal, told: &Told) -> bool {
    match (told.kind, &signal.funding, &told.funding) {
        (SignalKind::Funding, Some(known), Some(new)) => {
            let rounds = known.round.as_ref().zip(new.round.as_ref());
            let near = signal.occurred_at.since(told.at).max(told.at.since(signal.occurred_at));
            rounds.is_none_or(|(one, other)| one == other) && near <= ONE_ROUND
        }
        (SignalKind::Hiring, ..) => {
            let spoken_of = |hiring: &Hiring| {
                hiring.functions.is_empty()
                    || hiring.evidence == HiringEvidence::AtsBoard
                    || hiring.functions.iter().any(|it| told.functions.contains(it))
            };
            let fits = !told.board || signal.hiring.as_ref().is_some_and(spoken_of);
            !signal.maturity.is_over() && fits
        }
        _ => false,
    }
}

fn join(signal: &mut Signal, told: Told) {
    signal.sources.extend(told.source);
    signal.occurred_at = signal.occurred_at.min(told.at);
    if let (Some(known), Some(new)) = (&mut signal.funding, told.funding) {
        known.round = known.round.take().or(new.round);
        if known.amount.is_none() {
            known.amount = new.amount;
            known.amount_usd = new.amount_usd;
            known.currency = new.currency;
        }
        known.filing_ref = known.filing_ref.take().or(new.filing_ref);
        for investor in new.investors {
            if !known.investors.iter().any(|it| it.name == investor.name) {
                known.investors.push(investor);
            }
        }
    }
    if let Some(hiring) = signal.hiring.as_mut().filter(|_| !told.board) {
        for function in told.functions {
            if !hiring.functions.contains(&function) {
                hiring.functions.push(function);
            }
        }
    }
}

fn begun(id: String, told: Told, now: Timestamp) -> Signal {
    let evidence = match &told.source {
        _ if told.board => HiringEvidence::AtsBoard,
        Some(source) if source.kind == SourceType::CompanySite => HiringEvidence::CareersPage,
        _ => HiringEvidence::Post,
    };
    let hiring = (told.kind == SignalKind::Hiring).then_some(Hiring {
        role_count: 0,
        functions: if told.board { Vec::new() } else { told.functions },
        role_ids: Vec::new(),
        evidence,
    });
    Signal {
        id,
        kind: told.kind,
        target_id: told.target_id,
        headline: told.headline,
        summary: told.summary,
        occurred_at: told.at,
        detected_at: now,
        // Until the table is applied, which is in this build.
        maturity: Maturity::Unsourced,
        maturity_history: Vec::new(),
        confidence: 0.0,
        label: String::new(),
        sources: told.source.into_iter().collect(),
        funding: told.funding,
        hiring,
        handoff_ids: Vec::new(),
        first_seen_at: now,
        updated_at: now,
    }
}

/// Applies the table: to each statement about it by itself, and then to how things stand.
fn settle(signal: &mut Signal, ground: &Ground<'_>) {
    let matching = matching(signal, ground);
    let (more, said): (Vec<&Evidence>, Vec<&Evidence>) = (ground.knowledge.about(signal))
        .into_iter()
        .partition(|it| it.kind == EvidenceKind::Supports);
    more.iter().for_each(|it| it.cite(signal, ground.now));
    let publishers: BTreeSet<String> = more.iter().map(|it| it.source_id()).collect();
    let mut facts = facts(signal, &matching, &publishers, ground);
    // First how things stand: a statement is about a signal that is there.
    advance(signal.kind, &mut signal.maturity_history, &facts);
    for statement in said {
        if statement.is_answered(signal) {
            continue;
        }
        statement.cite(signal, ground.now);
        let with = statement.among(&facts, signal);
        advance(signal.kind, &mut signal.maturity_history, &with);
        facts.last_evidence_at = facts.last_evidence_at.max(statement.at.min(ground.now));
    }
    let state = signal.maturity_history.last().map(|step| step.to);
    signal.maturity = state.unwrap_or(Maturity::Unsourced);
    signal.label = signal.maturity.label().to_owned();
    signal.confidence = signal.maturity.confidence();
    let handoff_ids = match signal.kind {
        SignalKind::Funding => ground.funding_handoff_ids,
        SignalKind::Hiring => ground.handoff_ids,
    };
    signal.handoff_ids = handoff_ids.to_vec();
    if let Some(hiring) = &mut signal.hiring {
        let over = signal.maturity.is_over();
        hiring.role_ids = matching.iter().filter(|_| !over).map(|it| it.id.clone()).collect();
        hiring.role_count = u32::try_from(hiring.role_ids.len()).unwrap_or(u32::MAX);
        if !matching.is_empty() && !over {
            hiring.evidence = HiringEvidence::AtsBoard;
            let functions: BTreeSet<&str> =
                matching.iter().map(|it| it.function.as_str()).collect();
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

fn count(roles: u32) -> String {
    if roles == 1 { "1 role".to_owned() } else { format!("{roles} roles") }
}

/// The roles on the target's own boards that are what the signal speaks of.
fn matching<'a>(signal: &Signal, ground: &'a Ground<'_>) -> Vec<&'a Role> {
    let Some(hiring) = &signal.hiring else { return Vec::new() };
    let spoken_of = |role: &&Role| {
        hiring.functions.is_empty()
            || hiring.evidence == HiringEvidence::AtsBoard
            || hiring.functions.contains(&role.function)
    };
    ground
        .open
        .roles
        .iter()
        .filter(|it| it.target_id == signal.target_id)
        .filter(spoken_of)
        .collect()
}

/// `publishers`: sources that were submitted, and publish it as those do that were read here.
fn facts(
    signal: &Signal,
    matching: &[&Role],
    publishers: &BTreeSet<String>,
    ground: &Ground<'_>,
) -> Facts {
    let now = ground.now;
    let domain = |source: &Source| registrable_domain(&source.url);
    let spoken = signal.sources.iter().filter(|it| was_read(it) || publishers.contains(&it.id));
    let first = spoken.clone().next();
    let second = spoken.clone().find(|it| first.is_some_and(|first| domain(first) != domain(it)));
    let seen = matching.iter().any(|it| it.maturity == RoleMaturity::Verified);
    let heard =
        signal.sources.iter().map(|it| it.published_at.unwrap_or(it.retrieved_at).min(now)).max();
    let had_roles = signal.hiring.as_ref().is_some_and(|it| !it.role_ids.is_empty());
    Facts {
        now,
        source: first.map(|it| it.id.clone()),
        confirmation: filing(signal).or_else(|| both_sides(signal, ground)),
        second_publisher: second.map(|it| it.id.clone()),
        open_role_read_at: ground.open.read_at.get(&signal.target_id).copied().filter(|_| seen),
        roles_left: had_roles && matching.is_empty(),
        owner_confirms: None,
        last_evidence_at: heard.unwrap_or(signal.occurred_at),
        objection: None,
        review: None,
    }
}

/// Whether it was read here, and is not what somebody said to a review.
fn was_read(source: &Source) -> bool {
    source.kind != SourceType::Owner && source.kind != SourceType::Other
}

fn filing(signal: &Signal) -> Option<String> {
    signal.sources.iter().find(|it| it.kind == SourceType::Filing).map(|it| it.id.clone())
}

/// The company says so on its own domain, and an investor on theirs. Cites the investor.
fn both_sides(signal: &Signal, ground: &Ground<'_>) -> Option<String> {
    let of = |target_id: &str| ground.town.with_id(target_id).and_then(|it| it.domain.clone());
    let own = of(&signal.target_id)?;
    let investors =
        signal.funding.as_ref()?.investors.iter().filter_map(|it| it.target_id.as_deref());
    let investors: BTreeSet<String> = investors.filter_map(of).collect();
    let domains = |source: &Source| registrable_domain(&source.url);
    let read = || signal.sources.iter().filter(|it| was_read(it));
    read().find(|it| domains(it).as_ref() == Some(&own))?;
    let other = read().find(|it| domains(it).is_some_and(|it| investors.contains(&it)))?;
    Some(other.id.clone())
}

fn forgotten(signal: &Signal, now: Timestamp) -> bool {
    let last = signal.maturity_history.last();
    signal.maturity.is_over() && last.is_some_and(|step| now.since(step.at) >= REMEMBERED)
}
