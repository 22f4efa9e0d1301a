//! Reads filings as the SEC's EDGAR lists them: the Atom feed of a company or of the newest filings, and a
//! company's submissions in JSON. Of a Form D, a notice of an offering, the amounts are read from its XML.

use super::item::{Item, Offering};
use crate::{
    entries::{self, Refused},
    text::{line, link, some_line},
    timestamp::Timestamp,
    xml::{self, Document, Element},
};
use serde::Deserialize;
use std::collections::BTreeSet;
use url::Url;

/// The forms that report an offering.
const OFFERINGS: [&str; 2] = ["D", "D/A"];
/// The site on which filings are.
const ARCHIVES: &str = "https://www.sec.gov/Archives/edgar/data/";
/// The document of a filing that has its data.
const DATA: &str = "primary_doc.xml";
/// How many bytes of an answer say what it is.
const MOST_HEAD: usize = 64 * 1024;
const MOST_NAME: usize = 160;
const MOST_TITLE: usize = 300;

/// Returns whether an answer is a feed of EDGAR.
pub(super) fn is_feed(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes.get(..MOST_HEAD).unwrap_or(bytes));
    text.contains("<feed")
        && (text.contains("label=\"form type\"") || text.contains("<company-info>"))
}

/// Reads the Atom feed of a company, or of the newest filings.
pub(super) fn feed(bytes: &[u8]) -> Result<(Vec<Item>, Vec<Refused>), String> {
    let document = xml::parse(bytes)?;
    let root = document.root();
    let company = root.at(&["company-info"]);
    let cik = company.and_then(|company| company.text_at(&["cik"]));
    let name = company.and_then(|company| {
        company.text_at(&["conformed-name"]).or_else(|| company.text_at(&["name"]))
    });
    let read = root.named("entry").map(|entry| {
        let id = entry.text_at(&["id"]).map(str::to_owned);
        (id, listed(entry, cik, name).map_err(str::to_owned))
    });
    let (mut items, refused) = entries::sorted(read, "filing");
    // A filing is listed once for each company that has a part in it.
    let mut seen = BTreeSet::new();
    items.retain(|item: &Item| seen.insert(item.key.clone()));
    Ok((items, refused))
}

fn listed(
    entry: Element<'_>,
    cik: Option<&str>,
    name: Option<&str>,
) -> Result<Option<Item>, &'static str> {
    let title = entry.text_at(&["title"]).unwrap_or_default();
    // The reporting owners are people.
    if title.ends_with("(Reporting)") {
        return Ok(None);
    }
    let content = |name: &str| entry.text_at(&["content", name]);
    let category = entry.named("category").find_map(|category| category.attribute("term"));
    let form = content("filing-type").or(category).ok_or("it names no form")?;
    let key = entry.text_at(&["id"]).or_else(|| content("accession-number"));
    let address = entry.named("link").find_map(|link| link.attribute("href"));
    let url = content("filing-href").or(address).and_then(link);
    let date = entry.text_at(&["updated"]).or_else(|| content("filing-date"));
    let filed = content("filing-date").or(date);
    let cik = cik
        .map(str::to_owned)
        .or_else(|| title_cik(title))
        .or_else(|| url.as_deref().and_then(address_cik));
    let form_name = content("form-name").unwrap_or_default();
    // The identifier and the part that the company has in the filing are no part of its name.
    let title = match title_cik(title) {
        Some(cik) => title.split(&format!("({cik})")).next().unwrap_or_default().trim_end(),
        None => title,
    };
    let title = match name {
        Some(name) => format!("{name}: {}", if title.is_empty() { form } else { title }),
        None => title.to_owned(),
    };
    filing(
        Filing {
            key: key.ok_or("it has no identifier")?,
            form,
            title: &title,
            text: form_name,
            published_at: filed.and_then(|date| date.parse().ok()),
            url,
            cik,
        },
        entry.text_at(&["summary"]).unwrap_or_default(),
    )
}

/// What is known of one filing.
struct Filing<'a> {
    key: &'a str,
    form: &'a str,
    title: &'a str,
    text: &'a str,
    published_at: Option<Timestamp>,
    url: Option<String>,
    cik: Option<String>,
}

fn filing(filing: Filing<'_>, summary: &str) -> Result<Option<Item>, &'static str> {
    let summary = crate::text::description(summary, 600).text;
    let text = [filing.text, summary.as_str()].join(" ");
    let item = Item {
        key: filing.key.to_owned(),
        url: filing.url,
        title: line(filing.title, MOST_TITLE),
        text: line(&text, 600),
        published_at: filing.published_at,
        tags: some_line(Some(filing.form), 60).into_iter().collect(),
        form: some_line(Some(filing.form), 20),
        cik: filing.cik.as_deref().and_then(ten_digits),
        ..Item::default()
    };
    match item.title.is_empty() {
        true => Err("it has no title"),
        false => Ok(Some(item)),
    }
}

/// Returns an identifier of EDGAR with all of its ten digits.
fn ten_digits(cik: &str) -> Option<String> {
    let cik = cik.trim();
    let is_number =
        !cik.is_empty() && cik.len() <= 10 && cik.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("{cik:0>10}"))
}

/// Returns the identifier in a title such as "D - Copperleaf, Inc. (0001673743) (Filer)".
fn title_cik(title: &str) -> Option<String> {
    title
        .split(['(', ')'])
        .find(|part| part.len() == 10 && ten_digits(part).is_some())
        .map(str::to_owned)
}

fn address_cik(address: &str) -> Option<String> {
    let (_, rest) = address.split_once("/edgar/data/")?;
    rest.split('/').next().map(str::to_owned)
}

/// A company's submissions: the n-th entries of all columns are one filing.
#[derive(Deserialize)]
struct Submissions {
    cik: serde_json::Value,
    name: String,
    filings: Recent,
}

#[derive(Deserialize)]
struct Recent {
    recent: Columns,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Columns {
    accession_number: Vec<String>,
    form: Vec<String>,
    #[serde(default)]
    filing_date: Vec<String>,
    #[serde(default)]
    acceptance_date_time: Vec<String>,
    #[serde(default)]
    primary_doc_description: Vec<String>,
}

/// Reads a company's submissions.
pub(super) fn submissions(bytes: &[u8]) -> Result<(Vec<Item>, Vec<Refused>), String> {
    let company: Submissions = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let columns = &company.filings.recent;
    let cik = match &company.cik {
        serde_json::Value::String(cik) => cik.clone(),
        other => other.to_string(),
    };
    let at =
        |column: &[String], row: usize| column.get(row).filter(|text| !text.is_empty()).cloned();
    let read = columns.accession_number.iter().enumerate().map(|(row, number)| {
        let read = || {
            let form = at(&columns.form, row).ok_or("it names no form")?;
            let date =
                at(&columns.acceptance_date_time, row).or_else(|| at(&columns.filing_date, row));
            let folder: String = number.chars().filter(char::is_ascii_digit).collect();
            let digits = cik.trim_start_matches('0');
            let url = link(&format!("{ARCHIVES}{digits}/{folder}/{number}-index.htm"));
            let described = at(&columns.primary_doc_description, row).unwrap_or_default();
            let title = format!("{}: {form}", company.name);
            filing(
                Filing {
                    key: &format!("urn:tag:sec.gov,2008:accession-number={number}"),
                    form: &form,
                    title: &title,
                    text: &described,
                    published_at: date.and_then(|date| date.parse().ok()),
                    url,
                    cik: Some(cik.clone()),
                },
                "",
            )
        };
        (Some(number.clone()), read().map_err(str::to_owned))
    });
    Ok(entries::sorted(read, "filing"))
}

/// Returns the address of the data of a filing that reports an offering. It must be on the feed's own
/// host, or where EDGAR has all filings.
pub fn data_of(item: &Item, feed: &Url) -> Option<Url> {
    let form = item.form.as_deref()?;
    let url = Url::parse(item.url.as_deref()?).ok()?;
    let is_trusted = url.origin() == feed.origin() || url.as_str().starts_with(ARCHIVES);
    let data = url.join(DATA).ok()?;
    (OFFERINGS.contains(&form) && is_trusted).then_some(data)
}

/// Reads the data of a Form D.
pub fn offering(bytes: &[u8]) -> Result<Offering, String> {
    let document: Document = xml::parse(bytes)?;
    let root = document.root();
    let issuer = root.at(&["primaryIssuer"]).ok_or("it names no issuer")?;
    let data = root.at(&["offeringData"]).ok_or("it has no data of an offering")?;
    let cik = issuer.text_at(&["cik"]).and_then(ten_digits).ok_or("its issuer has no CIK")?;
    let name =
        some_line(issuer.text_at(&["entityName"]), MOST_NAME).ok_or("its issuer has no name")?;
    let amount = |name: &str| data.text_at(&["offeringSalesAmounts", name]).and_then(dollars);
    let filing = data.at(&["typeOfFiling"]);
    let first_sale = filing
        .and_then(|filing| filing.text_at(&["dateOfFirstSale", "value"]))
        .filter(|text| !is_none(text));
    let amendment = filing.and_then(|filing| filing.text_at(&["newOrAmendment", "isAmendment"]));
    let group = data.text_at(&["industryGroup", "industryGroupType"]);
    Ok(Offering {
        issuer_name: name,
        issuer_cik: cik,
        amount: amount("totalOfferingAmount"),
        sold: amount("totalAmountSold"),
        first_sale: first_sale.and_then(|date| date.parse().ok()),
        is_amendment: amendment == Some("true") || root.text_at(&["submissionType"]) == Some("D/A"),
        is_fund: group == Some("Pooled Investment Fund"),
    })
}

/// Reads an amount; "Indefinite" and "None" are no amounts.
fn dollars(text: &str) -> Option<u64> {
    let digits: String =
        text.chars().filter(|character| !matches!(character, ',' | '$' | ' ')).collect();
    digits.split('.').next()?.parse().ok()
}

/// Returns whether a text says that there is no value.
fn is_none(text: &str) -> bool {
    text.eq_ignore_ascii_case("none")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPANY: &str = r#"<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">
      <author><email>webmaster@edgar.example</email></author><company-info><addresses><address type="mailing"/></addresses>
      <cik>1958740</cik><conformed-name>Copperleaf Robotics, Inc.</conformed-name></company-info>
      <entry><category label="form type" scheme="https://edgar.example/" term="D"/><content type="text/xml">
        <accession-number>0001958740-26-000004</accession-number><filing-date>2026-11-19</filing-date>
        <filing-href>https://www.sec.gov/Archives/edgar/data/1958740/000195874026000004/0001958740-26-000004-index.htm</filing-href>
        <filing-type>D</filing-type><form-name>Notice of Exempt Offering of Securities</form-name></content>
        <id>urn:tag:sec.gov,2008:accession-number=0001958740-26-000004</id><title>D  - Notice of Exempt Offering of Securities</title>
        <summary type="html"> &lt;b&gt;Filed:&lt;/b&gt; 2026-11-19</summary><updated>2026-11-19T18:02:43-05:00</updated></entry>
      <entry><content type="text/xml"><accession-number>x</accession-number></content><title>No form</title></entry></feed>"#;

    #[test]
    fn the_feed_of_a_company_is_read() {
        assert!(is_feed(COMPANY.as_bytes()));
        let (items, refused) = feed(COMPANY.as_bytes()).unwrap();
        assert_eq!((items.len(), refused.len()), (1, 1), "{refused:?}");
        let item = &items[0];
        assert_eq!((item.form.as_deref(), item.cik.as_deref()), (Some("D"), Some("0001958740")));
        assert_eq!(
            item.title,
            "Copperleaf Robotics, Inc.: D - Notice of Exempt Offering of Securities"
        );
        let feed: Url = "https://www.sec.gov/cgi-bin/browse-edgar".parse().unwrap();
        let data = data_of(item, &feed).unwrap();
        assert_eq!(
            data.as_str(),
            "https://www.sec.gov/Archives/edgar/data/1958740/000195874026000004/primary_doc.xml"
        );
        let other =
            Item { url: Some("https://evil.example/edgar/x.htm".to_owned()), ..item.clone() };
        assert_eq!(data_of(&other, &feed), None);
        let quarterly = Item { form: Some("10-Q".to_owned()), ..item.clone() };
        assert_eq!(data_of(&quarterly, &feed), None);
    }

    #[test]
    fn of_the_newest_filings_the_people_are_left_out() {
        let entry = |title: &str, number: u8| {
            format!(
                r#"<entry><title>{title}</title><link rel="alternate" href="https://www.sec.gov/Archives/edgar/data/85535/000/{number}-index.htm"/>
                <updated>2026-11-19T18:02:43-05:00</updated><category scheme="https://www.sec.gov/" label="form type" term="4"/><id>urn:{number}</id></entry>"#
            )
        };
        let text = format!(
            r#"<feed xmlns="http://www.w3.org/2005/Atom">{}{}{}</feed>"#,
            entry("4 - Quill Ada (0002063236) (Reporting)", 1),
            entry("4 - Copperleaf Robotics, Inc. (0001958740) (Issuer)", 1),
            entry("8-K - Copperleaf Robotics, Inc. (Filer)", 2),
        );
        let (items, refused) = feed(text.as_bytes()).unwrap();
        assert_eq!(refused, []);
        let ciks: Vec<_> = items.iter().map(|item| item.cik.as_deref().unwrap()).collect();
        assert_eq!(ciks, ["0001958740", "0000085535"]);
        assert_eq!(items[0].title, "4 - Copperleaf Robotics, Inc.");
        assert!(items.iter().all(|item| !item.title.contains("Quill")));
    }

    #[test]
    fn submissions_in_columns_are_read() {
        let text = r#"{"cik":"1958740","name":"Copperleaf Robotics, Inc.","filings":{"recent":{
          "accessionNumber":["0001958740-26-000004","0001958740-26-000003"],"form":["D/A"],
          "filingDate":["2026-11-19","2026-11-18"],"acceptanceDateTime":["",""]}}}"#;
        let (items, refused) = submissions(text.as_bytes()).unwrap();
        assert_eq!((items.len(), refused.len()), (1, 1));
        assert_eq!(items[0].published_at.unwrap().to_string(), "2026-11-19T00:00:00.000Z");
        assert!(data_of(&items[0], &"https://data.sec.gov/x.json".parse().unwrap()).is_some());
    }

    fn form_d(sale: &str, amount: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?><edgarSubmission><submissionType>D</submissionType><primaryIssuer><cik>0001958740</cik>\
            <entityName>Copperleaf &amp; Co</entityName><issuerPhoneNumber>4155550142</issuerPhoneNumber></primaryIssuer>\
            <relatedPersonsList><relatedPersonInfo><relatedPersonName><firstName>Ada</firstName></relatedPersonName></relatedPersonInfo></relatedPersonsList>\
            <offeringData><industryGroup><industryGroupType>Other Technology</industryGroupType></industryGroup>\
            <typeOfFiling><newOrAmendment><isAmendment>false</isAmendment></newOrAmendment><dateOfFirstSale>{sale}</dateOfFirstSale></typeOfFiling>\
            <offeringSalesAmounts><totalOfferingAmount>{amount}</totalOfferingAmount><totalAmountSold>9000000</totalAmountSold></offeringSalesAmounts>\
            </offeringData></edgarSubmission>"
        )
    }

    #[test]
    fn the_amounts_of_a_form_d_are_read() {
        let read = offering(form_d("<value>2026-11-04</value>", "12500000").as_bytes()).unwrap();
        assert_eq!((read.amount, read.sold), (Some(12_500_000), Some(9_000_000)));
        assert_eq!(read.issuer_name, "Copperleaf & Co");
        assert_eq!(read.first_sale.unwrap().to_string(), "2026-11-04T00:00:00.000Z");
        assert!(!read.is_amendment && !read.is_fund);
        let open =
            offering(form_d("<yetToOccur>true</yetToOccur>", "Indefinite").as_bytes()).unwrap();
        assert_eq!((open.amount, open.first_sale), (None, None));
        let none = offering(form_d("<value>None</value>", "None").as_bytes()).unwrap();
        assert_eq!((none.amount, none.first_sale), (None, None));
        for text in ["", "<edgarSubmission/>", "<html><body>Denied</body></html>"] {
            assert!(offering(text.as_bytes()).is_err(), "{text}");
        }
    }
}
