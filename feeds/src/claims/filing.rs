//! Claims of filings: only a Form D, or an amendment of one, by the company itself tells of funding.

use super::{
    Amount, Claim, Modality, Predicate, Reading, company::Companies, notice, text::Text,
    token::tokens,
};
use std::collections::BTreeSet;

/// The forms by which a company reports that it has sold securities without a public offering.
const FUNDING_FORMS: [&str; 2] = ["D", "D/A"];
/// The parts of those who do not file for themselves.
const OTHER_PARTS: [&str; 5] = ["subject", "reporting", "issuer", "filed by", "serial company"];
/// Words in the names of vehicles that are not the company itself.
const VEHICLES: [&str; 13] = [
    "fund",
    "funds",
    "lp",
    "spv",
    "series",
    "master",
    "holdco",
    "trust",
    "partners",
    "opportunities",
    "syndicate",
    "feeder",
    "coinvest",
];

/// The form and the filer in a title of EDGAR: "D - Company, Inc. (0001234567) (Filer)".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub form: String,
    pub filer: String,
    pub cik: String,
    /// "Filer", "Subject", "Reporting", "Issuer".
    pub part: String,
}

/// Returns the form and the filer of a title, if it has the form of EDGAR.
pub fn head(title: &str) -> Option<Head> {
    let (form, rest) = title.split_once(" - ").or_else(|| title.split_once(" – "))?;
    let form = form.trim();
    // "Form D", "Formulario D"
    let form = form
        .rsplit_once(' ')
        .filter(|(word, _)| word.starts_with("Form"))
        .map_or(form, |(_, form)| form);
    let valid = !form.is_empty()
        && form.len() <= 12
        && form
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '/' | ' '));
    let (filer, rest) = rest.rsplit_once(" (").and_then(|(before, part)| {
        let (filer, cik) = before.rsplit_once(" (")?;
        Some((filer, (cik.strip_suffix(')')?, part.strip_suffix(')')?)))
    })?;
    let (cik, part) = rest;
    let number =
        !cik.is_empty() && cik.len() <= 10 && cik.bytes().all(|byte| byte.is_ascii_digit());
    (valid && number).then(|| Head {
        form: form.to_uppercase(),
        filer: filer.trim().to_owned(),
        cik: cik.to_owned(),
        part: part.to_owned(),
    })
}

/// Returns the claim of a filing, and the company that filed it.
pub(super) fn claims(reading: &Reading<'_>, companies: &Companies) -> Vec<Claim> {
    let head = head(reading.title);
    let form =
        reading.form.map(str::to_uppercase).or_else(|| head.as_ref().map(|head| head.form.clone()));
    let Some(form) = form else { return notice(reading, companies) };
    let cik = reading.cik.or_else(|| head.as_ref().map(|head| head.cik.as_str()));
    // The number in the title may have been removed as contact data.
    let named = || reading.title.split_once(" - ")?.1.split(" (").next();
    let filer = head.as_ref().map(|head| head.filer.as_str()).or_else(named);
    let is_filer = head
        .as_ref()
        .is_none_or(|head| !OTHER_PARTS.iter().any(|part| head.part.eq_ignore_ascii_case(part)));
    let company = filer_of(cik, filer, companies)
        .filter(|company| !companies.invests(*company) && !reading.is_fund);
    let is_funding = FUNDING_FORMS.contains(&form.trim()) && is_filer;
    vec![Claim {
        company,
        predicate: if is_funding { Predicate::RaisedFunding } else { Predicate::Other },
        amount: reading.sold.map(in_dollars).or_else(|| sold(reading.text)),
        round: None,
        investors: Vec::new(),
        is_negated: false,
        modality: Modality::Announced,
        evidence: crate::text::line(reading.title, 240),
        doubt: None,
    }]
}

/// Returns the company with this number. Its name decides only if the number is not known here, and a name
/// with the words of a fund is no company's.
fn filer_of(cik: Option<&str>, filer: Option<&str>, companies: &Companies) -> Option<usize> {
    if let Some(company) = cik.and_then(|cik| companies.with_cik(cik)) {
        return Some(company);
    }
    let filer = filer?;
    let words = tokens(filer);
    if words.iter().any(|word| VEHICLES.contains(&word.text.as_str())) {
        return None;
    }
    let company = companies.with_name(filer)?;
    // A company whose number is known has no other one.
    companies.get(company).filter(|known| known.cik.is_none()).map(|_| company)
}

/// A notice that names its form in words, or one of another register.
fn notice(reading: &Reading<'_>, companies: &Companies) -> Vec<Claim> {
    let (title, text) = (reading.title, reading.text);
    if !notice::is_form_d(title, text) && !notice::tells_of_paid_shares(title, text) {
        return Vec::new();
    }
    let company = issuer(reading, companies)
        .filter(|company| !companies.invests(*company) && !reading.is_fund);
    vec![Claim {
        company,
        predicate: Predicate::RaisedFunding,
        amount: sold(reading.text),
        round: None,
        investors: Vec::new(),
        is_negated: false,
        modality: Modality::Announced,
        evidence: crate::text::line(reading.title, 240),
        doubt: None,
    }]
}

/// Returns the company by its number, or the one of the feed if the notice names it, or the only one that the
/// title names.
fn issuer(reading: &Reading<'_>, companies: &Companies) -> Option<usize> {
    if let Some(company) = reading.cik.and_then(|cik| companies.with_cik(cik)) {
        return Some(company);
    }
    if tokens(reading.title).iter().any(|word| VEHICLES.contains(&word.text.as_str())) {
        return None;
    }
    let named = |title: &str, text: &str| -> BTreeSet<usize> {
        let mentions = companies.mentions(&Text::new(title, text));
        mentions.into_iter().map(|mention| mention.company).collect()
    };
    let all = named(reading.title, reading.text);
    if let Some(own) = reading.own {
        return Some(own).filter(|own| all.contains(own));
    }
    let titled = named(reading.title, "");
    titled.first().copied().filter(|_| titled.len() == 1)
}

/// Returns the amount sold that the text names, or else the amount offered.
fn sold(text: &str) -> Option<Amount> {
    let lower = text.to_lowercase();
    let after = |word: &str| {
        let at = lower.find(word)? + word.len();
        let rest = lower.get(at..)?;
        let start =
            rest.find(|letter: char| letter.is_ascii_digit()).filter(|start| *start <= 40)?;
        let digits: String = rest
            .get(start..)?
            .chars()
            .take_while(|letter| letter.is_ascii_digit() || *letter == ',')
            .take(18)
            .collect();
        digits.replace(',', "").parse::<u64>().ok().filter(|value| *value > 0)
    };
    let value =
        ["amount sold", "amountsold", "total sold", "sold ", "offering amount", "offeringamount"]
            .iter()
            .find_map(|word| after(word))?;
    Some(in_dollars(value))
}

fn in_dollars(value: u64) -> Amount {
    Amount { value, currency: Some("USD") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_of_edgar_are_read() {
        let found = head("D/A - Copperleaf Robotics, Inc. (0009990101) (Filer)").unwrap();
        assert_eq!(
            (found.form.as_str(), found.filer.as_str(), found.cik.as_str()),
            ("D/A", "Copperleaf Robotics, Inc.", "0009990101")
        );
        assert_eq!(head("Copperleaf - a company (of sorts)"), None);
        assert_eq!(head("D - Copperleaf"), None);
    }
}
