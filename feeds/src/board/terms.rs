//! Converts the vendors' words for employment, workplace and pay to the terms of schema.org.

use crate::record::{EmploymentType, Salary, SalaryUnit, WorkplaceType};

/// Parts of the vendors' words, the more specific first: the first one that a
/// text contains decides.
const EMPLOYMENT: [(&str, EmploymentType); 12] = [
    ("fullorpart", EmploymentType::FullTime),
    ("permanentcontract", EmploymentType::FullTime),
    ("intern", EmploymentType::Intern),
    ("trainee", EmploymentType::Intern),
    ("part", EmploymentType::PartTime),
    ("contract", EmploymentType::Contractor),
    ("freelance", EmploymentType::Contractor),
    ("temp", EmploymentType::Temporary),
    ("seasonal", EmploymentType::Temporary),
    ("full", EmploymentType::FullTime),
    ("permanent", EmploymentType::FullTime),
    ("fixedterm", EmploymentType::Temporary),
];

const WORKPLACE: [(&str, WorkplaceType); 5] = [
    ("hybrid", WorkplaceType::Hybrid),
    ("remote", WorkplaceType::Remote),
    ("onsite", WorkplaceType::OnSite),
    ("inoffice", WorkplaceType::OnSite),
    ("inperson", WorkplaceType::OnSite),
];

/// How many times its lower end the upper end of a range may be: a wider one says nothing.
const WIDEST: f64 = 20.0;

const UNITS: [(&str, SalaryUnit); 8] = [
    ("year", SalaryUnit::Year),
    ("annual", SalaryUnit::Year),
    ("month", SalaryUnit::Month),
    ("week", SalaryUnit::Week),
    ("day", SalaryUnit::Day),
    ("dai", SalaryUnit::Day),
    ("hour", SalaryUnit::Hour),
    ("onetime", SalaryUnit::Once),
];

fn found<T: Copy>(text: &str, table: &[(&str, T)]) -> Option<T> {
    let letters: String = text
        .chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    table.iter().find(|(part, _)| letters.contains(part)).map(|(_, term)| *term)
}

pub(super) fn employment(text: Option<&str>) -> EmploymentType {
    text.and_then(|text| found(text, &EMPLOYMENT)).unwrap_or_default()
}

/// Recognises "on-site", "OnSite", "onsite", "Remote - US", "Hybrid" and the like.
pub(super) fn workplace(text: Option<&str>) -> WorkplaceType {
    text.and_then(|text| found(text, &WORKPLACE)).unwrap_or_default()
}

/// Returns the word for the time of a pay that a text has, such as "hour" in "Hourly pay range".
pub(super) fn interval(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    UNITS.iter().map(|(part, _)| *part).find(|part| text.contains(part))
}

/// Returns the employer's range; `None` if it is not plausible. A missing interval means a year.
pub(super) fn salary(
    currency: Option<&str>,
    range: (Option<f64>, Option<f64>),
    interval: Option<&str>,
) -> Option<Salary> {
    let currency = currency?.trim().to_uppercase();
    let positive = |amount: &f64| amount.is_finite() && *amount > 0.0;
    let (min, max) = (range.0.filter(positive), range.1.filter(positive));
    let ordered = min.zip(max).is_none_or(|(min, max)| min <= max && max <= min * WIDEST);
    let code = currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase());
    let unit = interval.map_or(Some(SalaryUnit::Year), |interval| found(interval, &UNITS))?;
    let plausible = code && ordered && (min.is_some() || max.is_some());
    plausible.then_some(Salary { currency, min, max, unit, shown_by_employer: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_all_vendors_are_known() {
        for (text, term) in [
            ("FullTime", EmploymentType::FullTime),
            ("Full-time", EmploymentType::FullTime),
            ("Part time", EmploymentType::PartTime),
            ("Contract", EmploymentType::Contractor),
            ("Temporary", EmploymentType::Temporary),
            ("Intern", EmploymentType::Intern),
            ("full-or-part-time", EmploymentType::FullTime),
            ("fulltime_fixed_term", EmploymentType::FullTime),
            ("fixed_term", EmploymentType::Temporary),
            ("Permanent contract", EmploymentType::FullTime),
            ("Whenever", EmploymentType::Other),
        ] {
            assert_eq!(employment(Some(text)), term, "{text}");
        }
        for (text, term) in [
            ("on-site", WorkplaceType::OnSite),
            ("onsite", WorkplaceType::OnSite),
            ("OnSite", WorkplaceType::OnSite),
            ("Hybrid", WorkplaceType::Hybrid),
            ("Remote - US", WorkplaceType::Remote),
            ("unspecified", WorkplaceType::Unspecified),
        ] {
            assert_eq!(workplace(Some(text)), term, "{text}");
        }
    }

    #[test]
    fn pay_that_is_not_plausible_is_left_out() {
        let range = (Some(100.0), Some(200.0));
        assert_eq!(salary(Some("usd"), range, Some("1 YEAR")).unwrap().unit, SalaryUnit::Year);
        assert_eq!(
            salary(Some("USD"), range, Some("per-hour-wage")).unwrap().unit,
            SalaryUnit::Hour
        );
        assert_eq!(salary(Some("dollars"), range, None), None);
        assert_eq!(salary(Some("USD"), (Some(2.0), Some(1.0)), None), None);
        assert_eq!(salary(Some("USD"), (Some(1.0), Some(1_000_000.0)), None), None);
        assert_eq!(salary(Some("USD"), (Some(0.0), None), None), None);
        assert_eq!(salary(Some("USD"), range, Some("per fortnight")), None);
        assert_eq!(salary(None, range, None), None);
    }
}
