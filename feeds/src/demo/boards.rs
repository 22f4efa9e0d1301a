//! Boards of open roles in the formats of the five vendors. They contain what must not reach the feeds:
//! unlisted and private postings, contact data and scripts.

use super::{
    chance::Chance,
    town::Organisation,
    words::{DUTIES, TITLES},
};
use crate::timestamp::{Timestamp, days};
use serde_json::{Value, json};

/// The vendors; companies use them in turn.
pub(super) const VENDORS: [&str; 5] =
    ["greenhouse", "lever", "ashby", "smartrecruiters", "workable"];
/// The number of vacancies on the board of a company that has open ones.
pub(super) const ROLES: usize = 14;

/// The path at which a document is served, and the document.
pub(super) type Document = (String, Value);

struct Vacancy {
    id: String,
    title: &'static str,
    department: &'static str,
    place: usize,
    salary: Option<(u64, u64)>,
    posted: Timestamp,
    html: String,
    text: String,
    url: String,
}

/// Returns the documents of this company's board at this vendor.
pub(super) fn documents(
    vendor: &str,
    company: &Organisation,
    seed: u64,
    is_open: bool,
    posted_before: Timestamp,
) -> Vec<Document> {
    let mut chance = Chance::new(seed, &company.slug);
    let all: Vec<Vacancy> =
        (0..ROLES).map(|at| vacancy(company, at, &mut chance, posted_before)).collect();
    let open = if is_open { all } else { Vec::new() };
    let slug = &company.slug;
    match vendor {
        "greenhouse" => {
            vec![(format!("greenhouse/v1/boards/{slug}/jobs"), greenhouse(&open, slug))]
        }
        "lever" => vec![(format!("lever/v0/postings/{slug}"), lever(&open))],
        "ashby" => vec![(format!("ashby/posting-api/job-board/{slug}"), ashby(&open, slug))],
        "smartrecruiters" => smartrecruiters(&open, slug),
        _ => vec![(
            format!("workable/api/v1/widget/accounts/{slug}"),
            workable(&open, &company.name),
        )],
    }
}

fn vacancy(company: &Organisation, at: usize, chance: &mut Chance, before: Timestamp) -> Vacancy {
    let offset = usize::try_from(chance.below(24)).unwrap_or(0);
    let (title, department) = TITLES.get((at + offset) % TITLES.len()).copied().unwrap_or_default();
    let id = format!("{}{:03}", 4_000 + chance.below(5_000), at);
    let duties = [chance.word(&DUTIES), chance.word(&DUTIES), chance.word(&DUTIES)];
    let items: String = duties.iter().map(|duty| format!("<li>{duty}</li>")).collect();
    let last = 100 + chance.below(100);
    let html = format!(
        "<p>{} works on {}. You would be a {title}.</p><h3>What you do</h3><ul>{items}</ul>\
         <p>Questions? Write to jobs@{}.example or call (415) 555-0{last}.</p>\
         <script>document.title = 'taken'</script><p onmouseover=\"taken()\">We read every letter.</p>",
        company.name, company.field, company.slug
    );
    let text = format!(
        "{} works on {}. You would be a {title}.\nCall +1 415 555 0{last}.",
        company.name, company.field
    );
    let least = 70_000 + 5_000 * chance.below(20);
    Vacancy {
        url: format!("https://jobs.{}.example/{id}", company.slug),
        id,
        title,
        department,
        place: at % 3,
        salary: (at.is_multiple_of(2)).then(|| (least, least + 30_000)),
        posted: before.before(days(1 + chance.below(9))),
        html,
        text,
    }
}

fn escaped(html: &str) -> String {
    html.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn of<'a>(names: &[&'a str], at: usize) -> &'a str {
    names.get(at % names.len()).copied().unwrap_or_default()
}

fn greenhouse(open: &[Vacancy], slug: &str) -> Value {
    let mut jobs: Vec<Value> = open
        .iter()
        .enumerate()
        .map(|(at, vacancy)| {
            let pay = vacancy.salary.map(|(min, max)| {
                json!({ "min_cents": min * 100, "max_cents": max * 100, "currency_type": "USD", "title": "Base salary" })
            });
            // Some employers' text is escaped twice.
            let content = if at.is_multiple_of(2) { escaped(&vacancy.html) } else { escaped(&escaped(&vacancy.html)) };
            json!({
                "id": vacancy.id.parse::<u64>().unwrap_or_default(),
                "internal_job_id": 900 + at,
                "title": vacancy.title,
                "updated_at": vacancy.posted,
                "first_published": vacancy.posted,
                "location": { "name": of(&["San Francisco, CA", "Remote - US", "San Francisco, CA; Hybrid"], vacancy.place) },
                "absolute_url": vacancy.url,
                "language": "en",
                "metadata": null,
                "departments": [{ "id": 1, "name": vacancy.department }],
                "offices": [{ "id": 2, "name": "Workshop", "location": "San Francisco" }],
                "content": content,
                "pay_input_ranges": pay.into_iter().collect::<Vec<_>>(),
            })
        })
        .collect();
    jobs.push(json!({
        "id": 1, "internal_job_id": null, "title": "Join our list of hopefuls",
        "absolute_url": format!("https://jobs.{slug}.example/hopefuls"), "location": { "name": "Anywhere" }, "content": "",
    }));
    let total = jobs.len();
    json!({ "jobs": jobs, "meta": { "total": total } })
}

fn lever(open: &[Vacancy]) -> Value {
    let jobs = open.iter().map(|vacancy| {
        let range = vacancy.salary.map(|(min, max)| {
            json!({ "currency": "USD", "interval": "per-year-salary", "min": min, "max": max })
        });
        json!({
            "id": format!("lv-{}", vacancy.id),
            "text": vacancy.title,
            "categories": {
                "location": "San Francisco", "allLocations": ["San Francisco", "Oakland"],
                "commitment": of(&["Full-time", "Part-time", "Contract"], vacancy.place),
                "team": vacancy.department, "department": vacancy.department,
            },
            "country": "US",
            "workplaceType": of(&["onsite", "remote", "hybrid"], vacancy.place),
            "descriptionPlain": vacancy.text,
            "lists": [{ "text": "What you do", "content": "<li>Begin</li><li onclick=\"taken()\">End</li>" }],
            "additionalPlain": "We read every letter.",
            "salaryRange": range,
            "hostedUrl": vacancy.url,
            "applyUrl": format!("{}/apply", vacancy.url),
            "createdAt": vacancy.posted.as_millis(),
        })
    });
    jobs.collect::<Vec<_>>().into()
}

fn ashby(open: &[Vacancy], slug: &str) -> Value {
    let mut jobs: Vec<Value> = open
        .iter()
        .enumerate()
        .map(|(at, vacancy)| {
            let part = vacancy.salary.map(|(min, max)| {
                json!({ "compensationType": "Salary", "interval": "1 YEAR", "currencyCode": "USD", "minValue": min, "maxValue": max })
            });
            json!({
                "id": format!("as-{}", vacancy.id),
                "title": vacancy.title,
                "department": vacancy.department,
                "team": vacancy.department,
                "employmentType": of(&["FullTime", "PartTime", "Intern", "Contract", "Temporary"], at),
                "location": "San Francisco",
                "secondaryLocations": [{ "location": "Berkeley", "address": null }],
                "address": { "postalAddress": { "addressLocality": "San Francisco", "addressRegion": "California", "addressCountry": "USA" } },
                "isRemote": vacancy.place > 0,
                "workplaceType": of(&["OnSite", "Remote", "Hybrid"], vacancy.place),
                "publishedAt": vacancy.posted,
                "jobUrl": vacancy.url,
                "applyUrl": format!("{}/application", vacancy.url),
                "descriptionPlain": vacancy.text,
                "descriptionHtml": vacancy.html,
                "isListed": true,
                "shouldDisplayCompensationOnJobPostings": at.is_multiple_of(4),
                "compensation": { "summaryComponents": part.into_iter().collect::<Vec<_>>() },
            })
        })
        .collect();
    jobs.push(json!({
        "id": "as-hidden", "title": "Not for everybody", "isListed": false,
        "jobUrl": format!("https://jobs.{slug}.example/hidden"),
    }));
    json!({ "apiVersion": "1", "jobs": jobs })
}

fn smartrecruiters(open: &[Vacancy], slug: &str) -> Vec<Document> {
    let list = format!("smartrecruiters/v1/companies/{slug}/postings");
    let mut content: Vec<Value> = open
        .iter()
        .map(|vacancy| {
            json!({
                "id": vacancy.id,
                "uuid": format!("u-{}", vacancy.id),
                "name": vacancy.title,
                "refNumber": format!("REF{}", vacancy.id),
                "releasedDate": vacancy.posted,
                "visibility": "PUBLIC",
                "company": { "identifier": slug, "name": slug },
                "location": {
                    "city": "San Francisco", "region": "CA", "country": "us", "remote": vacancy.place > 0, "hybrid": vacancy.place > 1,
                    "latitude": "37.7749", "longitude": "-122.4194", "fullLocation": "San Francisco, CA, United States",
                },
                "department": { "label": vacancy.department },
                "function": { "id": "f", "label": vacancy.department },
                "typeOfEmployment": { "id": "permanent", "label": "Full-time" },
                "experienceLevel": { "label": "Mid-Senior Level" },
                "ref": format!("https://interface.example/v1/companies/{slug}/postings/{}", vacancy.id),
            })
        })
        .collect();
    if !open.is_empty() {
        content
            .push(json!({ "id": "private", "name": "Not for everybody", "visibility": "PRIVATE" }));
    }
    let total = content.len();
    let details = open.iter().map(|vacancy| {
        let detail = json!({
            "id": vacancy.id,
            "applyUrl": format!("{}/apply", vacancy.url),
            "postingUrl": vacancy.url,
            "jobAd": { "sections": {
                "companyDescription": { "title": "Who we are", "text": "<p>A small workshop.</p>" },
                "jobDescription": { "title": "The role", "text": vacancy.html },
                "qualifications": { "title": "You", "text": "<p>Patience.</p>" },
                "additionalInformation": null,
            } },
        });
        (format!("{list}/{}", vacancy.id), detail)
    });
    let mut documents: Vec<Document> = details.collect();
    documents.push((
        list,
        json!({ "offset": 0, "limit": 100, "totalFound": total, "content": content }),
    ));
    documents
}

fn workable(open: &[Vacancy], name: &str) -> Value {
    let jobs = open.iter().map(|vacancy| {
        json!({
            "title": vacancy.title,
            "shortcode": format!("W{}", vacancy.id),
            "department": vacancy.department,
            "employment_type": of(&["Full-time", "Contract", "Temporary"], vacancy.place),
            "telecommuting": vacancy.place == 1,
            "city": "San Francisco", "state": "California", "country": "United States",
            "url": vacancy.url,
            "application_url": format!("{}/apply", vacancy.url),
            "published_on": vacancy.posted.to_string().get(..10),
            "created_at": vacancy.posted.to_string().get(..10),
            "description": vacancy.html,
        })
    });
    json!({ "name": name, "description": null, "jobs": jobs.collect::<Vec<_>>() })
}
