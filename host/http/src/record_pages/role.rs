//! The page about an open role.

use super::{
    company::{RoleLine, company_link},
    error::PageError,
    frame::{Frame, NamedLink, Subject},
    reader::Reader,
    records::{Role, Salary, Signal, view},
    structured,
    words::{Badge, exact_money, per, shortened, term, web},
};
use crate::times::calendar_day;
use askama::Template;
use portolan_publication::Roads;
use serde_json::Value;

/// How many other roles of the company are listed.
const MAX_OTHERS: u32 = 10;
/// The longest text of which the page's description is made.
const MAX_TEXT: usize = 200;

#[derive(Template)]
#[template(path = "records/role.html")]
struct RolePage {
    frame: Frame,
    title: String,
    company: Option<NamedLink>,
    badge: Badge,
    facts: Vec<(&'static str, String)>,
    /// HTML of the allowed elements only.
    description: String,
    apply_url: Option<String>,
    signals: Vec<NamedLink>,
    others: Vec<RoleLine>,
}

pub(super) async fn render(reader: &Reader<'_>, record: &Value) -> Result<String, PageError> {
    let role: Role = view(record);
    let company = reader.company(&role.target_id).await?;
    let others = reader.roles_of(&role.target_id, MAX_OTHERS + 1).await?;
    let signals = reader.signals_of(&role.target_id).await?;
    let handoffs = reader.handoffs(role.handoff_ids.iter()).await?;
    let description = reader.description(record).await?;
    let at = company.as_ref().map_or("", |company| &company.properties.name);
    let roads = reader.roads();
    let path = roads.page(&format!("roles/{}", role.id));
    let canonical = format!("{}{path}", roads.feeds);
    let facts = facts(&role);
    let told: Vec<&str> = facts.iter().map(|(_, value)| value.as_str()).collect();
    let summary = shortened(&format!("{} at {at}. {}", role.title, told.join(" · ")), MAX_TEXT);
    let title = if at.is_empty() { role.title.clone() } else { format!("{} at {at}", role.title) };
    let frame = Frame::new(
        reader,
        Subject {
            title: &title,
            descriptions: &[&summary],
            path,
            id: &role.id,
            open_graph_type: "website",
            json_ld: structured::job_posting(
                &role,
                company.as_ref(),
                &description,
                &canonical,
                &reader.addresses(),
            ),
            sources: &role.sources,
            handoffs: handoffs.links(&role.handoff_ids, &role.id),
            updated_at: &role.updated_at,
        },
    );
    let about = signals.iter().filter(|signal| {
        signal.hiring.as_ref().is_some_and(|hiring| hiring.role_ids.contains(&role.id))
    });
    let page = RolePage {
        title: role.title.clone(),
        company: company.as_ref().map(|company| company_link(company, roads)),
        badge: badge(&role),
        facts,
        description,
        apply_url: web(&role.apply_url).map(str::to_owned),
        signals: about.map(|signal| signal_link(signal, roads)).collect(),
        others: others
            .iter()
            .filter(|other| other.id != role.id)
            .take(MAX_OTHERS as usize)
            .map(|other| RoleLine::new(other, roads))
            .collect(),
        frame,
    };
    Ok(page.render()?)
}

/// Returns the link to a signal on the page of its company.
pub(super) fn signal_link(signal: &Signal, roads: &Roads) -> NamedLink {
    let href = roads.page(&format!("companies/{}#{}", signal.target_id, signal.id));
    NamedLink::new(&signal.headline, Some(href), Badge::of(&signal.maturity).label)
}

/// Returns whether the role is on the board, in words.
fn badge(role: &Role) -> Badge {
    let badge = Badge::of(&role.maturity);
    match &*role.maturity {
        "verified" => Badge { label: "On the company's own job board".to_owned(), ..badge },
        "stale" => Badge { label: "Not seen on the board lately".to_owned(), ..badge },
        _ => badge,
    }
}

fn facts(role: &Role) -> Vec<(&'static str, String)> {
    let places: Vec<&str> = role.locations.iter().map(|place| place.label.as_str()).collect();
    let facts = [
        ("Place", places.join("; ")),
        ("Workplace", term(&role.workplace_type)),
        ("Employment", term(&role.employment_type)),
        ("Department", role.department.clone().unwrap_or_default()),
        ("Team", role.team.clone().unwrap_or_default()),
        ("Pay", role.base_salary.as_ref().map(pay).unwrap_or_default()),
        ("Posted", role.date_posted.as_deref().and_then(day).unwrap_or_default()),
        ("Open until", role.valid_through.as_deref().and_then(day).unwrap_or_default()),
    ];
    facts.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// Returns the day of a date or an instant.
fn day(text: &str) -> Option<String> {
    calendar_day(text.get(..10)?)
}

fn pay(pay: &Salary) -> String {
    let sums = [pay.min, pay.max].into_iter().flatten();
    let mut sums: Vec<String> = sums.map(|sum| exact_money(sum, &pay.currency)).collect();
    sums.dedup();
    match sums.is_empty() {
        true => String::new(),
        false => format!("{} {}, as the employer says", sums.join(" – "), per(&pay.unit)),
    }
}
