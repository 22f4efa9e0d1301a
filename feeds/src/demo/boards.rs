//! Boards of open roles in the formats of the five vendors, with everything in them that must not get
//! through: what is not listed, what is private, contact data, script.

use super::{
    chance::Chance,
    town::Organisation,
    words::{DUTIES, TITLES},
};
use crate::timestamp::{Timestamp, days};
use serde_json::{Value, json};

/// The vendors in turn.
pub(super) const VENDORS: [&str; 5] =
    ["greenhouse", "lever", "ashby", "smartrecruiters", "workable"];
/// Roles on each board that has any.
pub(super) const ROLES: usize = 14;

/// One document, and where it is served.
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

/// Where the board of this vendor for this company is, and what it is.
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
        .map(|(at, it)| {
            let pay = it.salary.map(|(min, max)| {
                json!({ "min_cents": min * 100, "max_cents": max * 100, "currency_type": "USD", "title": "Base salary" })
            });
            // Some employers' text is escaped twice.
            let content = if at.is_multiple_of(2) { escaped(&it.html) } else { escaped(&escaped(&it.html)) };
            json!({
                "id": it.id.parse::<u64>().unwrap_or_default(),
                "internal_job_id": 900 + at,
                "title": it.title,
                "updated_at": it.posted,
                "first_published": it.posted,
                "location": { "name": of(&["San Francisco, CA", "Remote - US", "San Francisco, CA; Hybrid"], it.place) },
                "absolute_url": it.url,
                "language": "en",
                "metadata": null,
                "departments": [{ "id": 1, "name": it.department }],
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
    let jobs = open.iter().map(|it| {
        let range = it.salary.map(|(min, max)| {
            json!({ "currency": "USD", "interval": "per-year-salary", "min": min, "max": max })
        });
        json!({
            "id": format!("lv-{}", it.id),
            "text": it.title,
            "categories": {
                "location": "San Francisco", "allLocations": ["San Francisco", "Oakland"],
                "commitment": of(&["Full-time", "Part-time", "Contract"], it.place),
                "team": it.department, "department": it.department,
            },
            "country": "US",
            "workplaceType": of(&["onsite", "remote", "hybrid"], it.place),
            "descriptionPlain": it.text,
            "lists": [{ "text": "What you do", "content": "<li>Begin</li><li onclick=\"taken()\">End</li>" }],
            "additionalPlain": "We read every letter.",
            "salaryRange": range,
            "hostedUrl": it.url,
            "applyUrl": format!("{}/apply", it.url),
            "createdAt": it.posted.as_millis(),
        })
    });
    jobs.collect::<Vec<_>>().into()
}

fn ashby(open: &[Vacancy], slug: &str) -> Value {
    let mut jobs: Vec<Value> = open
        .iter()
        .enumerate()
        .map(|(at, it)| {
            let part = it.salary.map(|(min, max)| {
                json!({ "compensationType": "Salary", "interval": "1 YEAR", "currencyCode": "USD", "minValue": min, "maxValue": max })
            });
            json!({
                "id": format!("as-{}", it.id),
                "title": it.title,
                "department": it.department,
                "team": it.department,
                "employmentType": of(&["FullTime", "PartTime", "Intern", "Contract", "Temporary"], at),
                "location": "San Francisco",
                "secondaryLocations": [{ "location": "Berkeley", "address": null }],
                "address": { "postalAddress": { "addressLocality": "San Francisco", "addressRegion": "California", "addressCountry": "USA" } },
                "isRemote": it.place > 0,
                "workplaceType": of(&["OnSite", "Remote", "Hybrid"], it.place),
                "publishedAt": it.posted,
                "jobUrl": it.url,
                "applyUrl": format!("{}/application", it.url),
                "descriptionPlain": it.text,
                "descriptionHtml": it.html,
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
        .map(|it| {
            json!({
                "id": it.id,
                "uuid": format!("u-{}", it.id),
                "name": it.title,
                "refNumber": format!("REF{}", it.id),
                "releasedDate": it.posted,
                "visibility": "PUBLIC",
                "company": { "identifier": slug, "name": slug },
                "location": {
                    "city": "San Francisco", "region": "CA", "country": "us", "remote": it.place > 0, "hybrid": it.place > 1,
                    "latitude": "37.7749", "longitude": "-122.4194", "fullLocation": "San Francisco, CA, United States",
                },
                "department": { "label": it.department },
                "function": { "id": "f", "label": it.department },
                "typeOfEmployment": { "id": "permanent", "label": "Full-time" },
                "experienceLevel": { "label": "Mid-Senior Level" },
                "ref": format!("https://interface.example/v1/companies/{slug}/postings/{}", it.id),
            })
        })
        .collect();
    if !open.is_empty() {
        content
            .push(json!({ "id": "private", "name": "Not for everybody", "visibility": "PRIVATE" }));
    }
    let total = content.len();
    let details = open.iter().map(|it| {
        let detail = json!({
            "id": it.id,
            "applyUrl": format!("{}/apply", it.url),
            "postingUrl": it.url,
            "jobAd": { "sections": {
                "companyDescription": { "title": "Who we are", "text": "<p>A small workshop.</p>" },
                "jobDescription": { "title": "The role", "text": it.html },
                "qualifications": { "title": "You", "text": "<p>Patience.</p>" },
                "additionalInformation": null,
            } },
        });
        (format!("{list}/{}", it.id), detail)
    });
    let mut documents: Vec<Document> = details.collect();
    documents.push((
        list,
        json!({ "offset": 0, "limit": 100, "totalFound": total, "content": content }),
    ));
    documents
}

fn workable(open: &[Vacancy], name: &str) -> Value {
    let jobs = open.iter().map(|it| {
        json!({
            "title": it.title,
            "shortcode": format!("W{}", it.id),
            "department": it.department,
            "employment_type": of(&["Full-time", "Contract", "Temporary"], it.place),
            "telecommuting": it.place == 1,
            "city": "San Francisco", "state": "California", "country": "United States",
            "url": it.url,
            "application_url": format!("{}/apply", it.url),
            "published_on": it.posted.to_string().get(..10),
            "created_at": it.posted.to_string().get(..10),
            "description": it.html,
        })
    });
    json!({ "name": name, "description": null, "jobs": jobs.collect::<Vec<_>>() })
}
