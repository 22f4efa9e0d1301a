//! The conditions of a search on each type of records.

use crate::{inputs::*, organisations::Organisations, records::*, refusals::*};
use portolan_sdk::prelude::*;

pub const NEIGHBOURHOOD: &str = "properties.geo.neighbourhood";
const ASK: &str = "properties.ask[].type";
const MATURITY: &str = "properties.ask[].maturity";
/// The maturities of an ask of the type `hiring` that is not verified. Asks of other types do not
/// have them.
const LEADS: [&str; 2] = ["lead", "corroborated"];
/// The length of a date without a time: `2026-03-01`.
const DAY_CHARS: usize = 10;

/// Returns the condition on the records of a type. `organisations` are those that fit, if the filters are about
/// organisations.
pub(crate) fn condition(
    kind: RecordType,
    filters: &Filters,
    organisations: Option<&Organisations>,
) -> Result<Filter> {
    let of_type = match kind {
        RecordType::Organisation => about_organisations(filters)?,
        RecordType::Role => filters.role.as_ref().map(roles).transpose()?.unwrap_or_default(),
        RecordType::Person => filters.person.as_ref().map(people).unwrap_or_default(),
        RecordType::Signal => filters.signal.as_ref().map(signals).unwrap_or_default(),
        RecordType::Event => filters.event.as_ref().map(events).unwrap_or_default(),
    };
    let of_organisation = organisations
        .filter(|_| kind != RecordType::Organisation)
        .map(|organisations| organisations.condition(kind.paths().target));
    let date = filters.date.as_ref().map(|date| dates(kind.paths().date, date)).transpose()?;
    let date = date.into_iter().flatten();
    Ok(all_of(of_type.into_iter().chain(of_organisation).chain(date)))
}

/// Returns the conditions on organisations, without the date.
pub(crate) fn about_organisations(filters: &Filters) -> Result<Vec<Filter>> {
    let hiring = |hiring| match hiring {
        HiringFilter::Any => field(ASK).eq(AskType::Hiring),
        HiringFilter::Verified => field(MATURITY).eq(Maturity::Verified),
        HiringFilter::Lead => field(MATURITY).one_of(LEADS),
    };
    let wanted = [
        any_value("properties.kind", filters.kind.as_ref()),
        any_value(ASK, filters.ask.as_ref()),
        any_value("properties.stage", filters.stage.as_ref()),
        filters.maturity.map(|maturity| field(MATURITY).eq(maturity)),
        filters.hiring.map(hiring),
        any_value("properties.industries[]", filters.industry.as_ref()),
        any_value(NEIGHBOURHOOD, filters.neighbourhood.as_ref()),
    ];
    let unwanted = filters.none_of.as_ref().map(|none| {
        [
            any_value("properties.kind", none.kind.as_ref()),
            any_value(ASK, none.ask.as_ref()),
            any_value("properties.stage", none.stage.as_ref()),
            any_value("properties.industries[]", none.industry.as_ref()),
            any_value(NEIGHBOURHOOD, none.neighbourhood.as_ref()),
        ]
    });
    let roles = filters.open_roles.map(open_roles).transpose()?;
    let wanted = wanted.into_iter().flatten();
    let unwanted = unwanted.into_iter().flatten().flatten().map(not);
    Ok(wanted.chain(unwanted).chain(roles.into_iter().flatten()).collect())
}

fn roles(filters: &RoleFilters) -> Result<Vec<Filter>> {
    let stated = [
        any_value("function", filters.function.as_ref()),
        any_value("seniority", filters.seniority.as_ref()),
        any_value("employment_type", filters.employment_type.as_ref()),
        any_value("workplace_type", filters.workplace.as_ref()),
    ];
    let pay = filters.pay.as_ref().map(pay).transpose()?;
    Ok(stated.into_iter().flatten().chain(pay.into_iter().flatten()).collect())
}

/// Returns the conditions on pay. Where a role states one amount only, it stands for both ends.
fn pay(pay: &PayRange) -> Result<Vec<Filter>> {
    const LOW: &str = "base_salary.min";
    const HIGH: &str = "base_salary.max";
    ensure_order("/role/pay", pay.min, pay.max)?;
    let stated = [
        Some(field("base_salary.currency").eq(&pay.currency)),
        Some(field("base_salary.unit").eq(pay.unit)),
        pay.min.map(|min| any_of([field(HIGH).gte(min), field(LOW).gte(min)])),
        pay.max.map(|max| any_of([field(LOW).lte(max), field(HIGH).lte(max)])),
    ];
    Ok(stated.into_iter().flatten().collect())
}

fn people(filters: &PersonFilters) -> Vec<Filter> {
    let stated = [
        any_value("role_kind", filters.role_kind.as_ref()),
        any_value("expertise[]", filters.expertise.as_ref()),
    ];
    stated.into_iter().flatten().collect()
}

fn signals(filters: &SignalFilters) -> Vec<Filter> {
    let stated = [
        any_value("kind", filters.kind.as_ref()),
        any_value("maturity", filters.maturity.as_ref()),
    ];
    stated.into_iter().flatten().collect()
}

fn events(filters: &EventFilters) -> Vec<Filter> {
    any_value("_map.type", filters.kind.as_ref()).into_iter().collect()
}

fn any_value<T: Serialize>(path: &str, values: Option<&AnyOf<T>>) -> Option<Filter> {
    values.map(|values| field(path).one_of(values.values()))
}

fn open_roles(range: NumberRange) -> Result<Vec<Filter>> {
    const COUNT: &str = "properties.open_roles_count";
    ensure_order("/open_roles", range.min, range.max)?;
    let ends =
        [range.min.map(|min| field(COUNT).gte(min)), range.max.map(|max| field(COUNT).lte(max))];
    Ok(ends.into_iter().flatten().collect())
}

fn dates(path: &str, range: &DateRange) -> Result<Vec<Filter>> {
    let from = range.from.as_deref().map(|from| instant("/date/from", from, 0)).transpose()?;
    let to = range.to.as_deref().map(|to| instant("/date/to", to, DAY - 1)).transpose()?;
    ensure_order("/date", from.as_deref(), to.as_deref())?;
    let ends = [from.map(|from| field(path).gte(from)), to.map(|to| field(path).lte(to))];
    Ok(ends.into_iter().flatten().collect())
}

/// Returns an instant in the form of the feeds. A day without a time is its first millisecond and `later`.
fn instant(pointer: &str, text: &str, later: u64) -> Result<String> {
    let parsed = match text.len() {
        DAY_CHARS => time::parse(&format!("{text}T00:00:00Z")).map(|day| day + later),
        _ => time::parse(text),
    };
    let expected = "a day such as `2026-03-01`, or an RFC 3339 instant";
    Ok(rfc3339(parsed.ok_or_else(|| fault(pointer, "format", expected))?))
}

fn ensure_order<T: PartialOrd>(pointer: &str, low: Option<T>, high: Option<T>) -> Result<()> {
    match low.zip(high).is_some_and(|(low, high)| low > high) {
        true => Err(fault(pointer, "range", "an end that is not below the start")),
        false => Ok(()),
    }
}
