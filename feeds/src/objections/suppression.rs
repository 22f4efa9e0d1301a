//! The objections as they are applied: to records of the feeds, however old they are.

use super::{
    list::{Objection, ObjectionKind, Objections, is_record},
    names::{Names, domain, folded},
};
use crate::{
    identifier::{sha256, stable},
    record::Person,
    registry::Organisation,
    state::{Held, Records, State},
    text::REMOVED,
};
use serde_json::{Map, Value};
use std::{borrow::Cow, collections::BTreeSet};
use url::Url;

/// Fields whose texts are never changed: identifiers and digests, and the names of organisations.
const KEPT_FIELDS: [&str; 6] = ["id", "sha256", "external_id", "name", "legal_name", "publisher"];
/// Fields of a query that say where a reader comes from; so do all that begin with `utm_`.
const TRACKING: [&str; 8] =
    ["fbclid", "gclid", "igshid", "lipi", "mc_cid", "mc_eid", "originalSubdomain", "trk"];
/// The least number of characters to which the schemas limit a text.
const SHORTEST_LIMIT: usize = 200;
/// How deep a record is searched; no record of the feeds is as deep.
const DEEPEST: usize = 64;

/// Decides what must not be published.
#[derive(Debug, Default)]
pub struct Suppression {
    /// The ids of records to which somebody has objected, and of companies on the list.
    ids: BTreeSet<String>,
    people: Known,
    companies: Known,
    texts: Option<Names>,
    /// The digest of the list.
    pub digest: String,
}

/// How people or companies are known.
#[derive(Debug, Default)]
struct Known {
    names: BTreeSet<String>,
    /// The domains of companies.
    domains: BTreeSet<String>,
    /// The addresses of people's profiles, without scheme.
    profiles: BTreeSet<String>,
}

impl Suppression {
    /// Applies the list to what was read from the sources.
    pub fn new(list: &Objections, state: &State) -> Result<Self, regex::Error> {
        let mut suppression = Self { digest: digest(list), ..Self::default() };
        for Objection { kind, matched, .. } in &list.objection {
            let matched = matched.trim();
            if is_record(matched) {
                suppression.ids.insert(matched.to_owned());
                continue;
            }
            let known = match kind {
                ObjectionKind::Person => &mut suppression.people,
                ObjectionKind::Company => &mut suppression.companies,
                ObjectionKind::Record => continue,
            };
            known.domains.extend(domain(matched));
            match matched.contains("://") {
                true => known.profiles.extend(profile(matched)),
                false => known.names.extend([folded(matched)]),
            }
        }
        suppression.texts = Names::new(suppression.people.names.iter())?;
        for kept in state.sources.values() {
            let Records::Organisations(all) = &kept.records else { continue };
            let suppressed = all.iter().filter(|one| suppression.companies.has_organisation(one));
            let ids: Vec<String> = suppressed.map(|one| stable("tgt", &[&one.slug])).collect();
            suppression.ids.extend(ids);
        }
        Ok(suppression)
    }

    /// Removes the names of people who object from what was read from boards, of which the descriptions of
    /// roles are made. A posting that cannot be read afterwards is removed.
    pub fn clean_postings(&self, state: &mut State) {
        if self.texts.is_none() {
            return;
        }
        for kept in state.sources.values_mut() {
            let Records::Postings(held) = &mut kept.records else { continue };
            let cleaned = |held: Held| {
                let mut posting = serde_json::to_value(&held.posting).ok()?;
                self.clean(&mut posting, "", 0);
                let posting = serde_json::from_value(posting).ok()?;
                Some(Held { posting, ..held })
            };
            *held = std::mem::take(held).into_iter().filter_map(cleaned).collect();
        }
    }

    /// Returns whether nobody objects to anything.
    pub fn is_empty(&self) -> bool {
        let Self { ids, people, companies, .. } = self;
        let is_empty = |known: &Known| known.names.is_empty() && known.profiles.is_empty();
        ids.is_empty() && is_empty(people) && is_empty(companies) && companies.domains.is_empty()
    }

    /// Returns whether the record with this id must not be published, as far as the id tells it.
    pub fn covers(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Returns whether a person must not be published.
    pub fn covers_person(&self, person: &Person) -> bool {
        self.covers(&person.id)
            || self.covers(&person.target_id)
            || self.people.names.contains(&folded(&person.full_name))
            || person.links.iter().any(|link| self.people.has_profile(&link.url))
    }

    /// Returns whether a record of any feed must not be published. It may be one of an earlier
    /// publication.
    pub fn applies(&self, record: &Value) -> bool {
        let text = |pointer: &str| record.pointer(pointer).and_then(Value::as_str);
        let has = |pointer: &str| text(pointer).is_some_and(|id| self.covers(id));
        let list = |pointer: &str| record.pointer(pointer).and_then(Value::as_array);
        let is_named = |known: &Known, pointer: &str| {
            text(pointer).is_some_and(|name| known.names.contains(&folded(name)))
        };
        let of_companies = list("/_map/target_ids").is_some_and(|ids| {
            let is_covered = |id: &Value| id.as_str().is_some_and(|id| self.covers(id));
            !ids.is_empty() && ids.iter().all(is_covered)
        });
        if has("/id") || has("/target_id") || of_companies {
            return true;
        }
        match text("/id").and_then(|id| id.split_once('_')) {
            Some(("tgt", _)) => {
                is_named(&self.companies, "/properties/name")
                    || is_named(&self.companies, "/properties/legal_name")
                    || text("/properties/website").is_some_and(|url| self.companies.has_domain(url))
            }
            Some(("per", _)) => {
                let links = list("/links").into_iter().flatten();
                let mut links = links.filter_map(|link| link.get("url")?.as_str());
                is_named(&self.people, "/full_name")
                    || links.any(|url| self.people.has_profile(url))
            }
            _ => false,
        }
    }

    /// Returns what may be published of a record: `None` if nothing; otherwise without the names of people
    /// who objected, and without references to records that are not published.
    pub fn filtered(&self, mut record: Value) -> Option<Value> {
        if self.applies(&record) {
            return None;
        }
        self.clean(&mut record, "", 0);
        Some(record)
    }

    /// Returns how many texts of a record have the name of a person who objects.
    pub fn named(&self, record: &Value) -> usize {
        self.texts.as_ref().map_or(0, |_| self.named_in(record, "", 0))
    }

    fn named_in(&self, value: &Value, field: &str, depth: usize) -> usize {
        match value {
            _ if depth > DEEPEST => 0,
            Value::String(text) => usize::from(self.cleaned(text, field).is_some()),
            Value::Array(items) => {
                items.iter().map(|item| self.named_in(item, field, depth + 1)).sum()
            }
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| self.named_in(value, name, depth + 1)).sum()
            }
            _ => 0,
        }
    }

    fn clean(&self, value: &mut Value, field: &str, depth: usize) {
        if depth > DEEPEST {
            *value = Value::Null;
            return;
        }
        match value {
            Value::String(text) => {
                if let Some(cleaned) = self.cleaned(text, field) {
                    *text = cleaned;
                }
            }
            Value::Array(items) => {
                items.retain(|item| !self.is_reference(item));
                items.iter_mut().for_each(|item| self.clean(item, field, depth + 1));
            }
            Value::Object(fields) => {
                *fields = std::mem::take(fields)
                    .into_iter()
                    .filter(|(name, value)| name == "id" || !self.is_reference(value))
                    .map(|(name, mut value)| {
                        self.clean(&mut value, &name, depth + 1);
                        (name, value)
                    })
                    .collect::<Map<_, _>>();
            }
            _ => {}
        }
    }

    fn is_reference(&self, value: &Value) -> bool {
        value.as_str().is_some_and(|id| self.covers(id))
    }

    fn cleaned(&self, text: &str, field: &str) -> Option<String> {
        let names = self.texts.as_ref().filter(|_| !KEPT_FIELDS.contains(&field))?;
        match text.starts_with("https://") || text.starts_with("http://") {
            true if !text.contains(char::is_whitespace) => names.shortened(text),
            _ => names.replaced(text, REMOVED).map(|cleaned| cut(cleaned, text)),
        }
    }
}

impl Known {
    fn has_organisation(&self, organisation: &Organisation) -> bool {
        let Organisation { slug, name, legal_name, website, .. } = organisation;
        let mut names = [Some(slug), Some(name), legal_name.as_ref()].into_iter().flatten();
        names.any(|name| self.names.contains(&folded(name)))
            || website.as_deref().is_some_and(|url| self.has_domain(url))
    }

    /// Returns whether an address is in one of the domains.
    fn has_domain(&self, url: &str) -> bool {
        let Some(host) = domain(url) else { return false };
        let mut rest = Some(host.as_str());
        while let Some(host) = rest {
            if self.domains.contains(host) {
                return true;
            }
            rest = host.split_once('.').map(|(_, parent)| parent);
        }
        false
    }

    fn has_profile(&self, url: &str) -> bool {
        profile(url).is_some_and(|profile| self.profiles.contains(&profile))
    }
}

/// Cuts a text that has become too long for its field. HTML is not cut: its fields have no limit.
fn cut(cleaned: String, text: &str) -> String {
    let most = text.chars().count().max(SHORTEST_LIMIT);
    match cleaned.char_indices().nth(most) {
        Some((end, _)) if !text.contains('<') => {
            cleaned.get(..end).unwrap_or_default().trim_end().to_owned()
        }
        _ => cleaned,
    }
}

/// Returns the address of a profile without what does not tell it from others: the scheme, and of its query
/// the order and what says where a reader comes from.
fn profile(url: &str) -> Option<String> {
    let url = Url::parse(url.trim()).ok()?;
    let host = url.host_str()?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    let place = format!("{host}{}", url.path().trim_end_matches('/')).to_lowercase();
    let is_kept = |(name, _): &(Cow<'_, str>, Cow<'_, str>)| {
        !name.starts_with("utm_") && !TRACKING.contains(&&**name)
    };
    let mut query: Vec<_> = url.query_pairs().filter(is_kept).collect();
    query.sort();
    let query: String = query.iter().map(|(name, value)| format!("&{name}={value}")).collect();
    // A fragment that is a path tells a person on a page that a script makes.
    let fragment = url.fragment().filter(|text| text.starts_with(['/', '!']));
    Some(format!("{place}{query}{}", fragment.map_or_else(String::new, |text| format!("#{text}"))))
}

/// Returns the digest of what the list matches.
fn digest(list: &Objections) -> String {
    let all = list.objection.iter().map(|one| format!("{:?}\n{}\n", one.kind, one.matched));
    sha256(all.collect::<String>().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timestamp::Timestamp;
    use serde_json::json;

    const COMPANY: &str = "tgt_0000000000000000000000000A";
    const OTHER: &str = "tgt_0000000000000000000000000B";
    const ROLE: &str = "rol_0000000000000000000000000A";

    fn suppression(all: &[(ObjectionKind, &str)]) -> Suppression {
        let objection = |(kind, matched): &(ObjectionKind, &str)| Objection {
            kind: *kind,
            matched: (*matched).to_owned(),
            reason: String::new(),
            date: Timestamp::default(),
        };
        let list = Objections { objection: all.iter().map(objection).collect() };
        Suppression::new(&list, &State::default()).unwrap()
    }

    #[test]
    fn a_company_is_found_by_domain_name_and_id() {
        let target = |name: &str, website: &str| json!({ "id": OTHER, "properties": { "name": name, "website": website } });
        let by_domain = suppression(&[(ObjectionKind::Company, "copperleaf.example")]);
        assert!(by_domain.applies(&target("Any", "https://www.copperleaf.example/en")));
        assert!(by_domain.applies(&target("Any", "https://eu.copperleaf.example")));
        assert!(!by_domain.applies(&target("Any", "https://notcopperleaf.example/")));
        let by_name = suppression(&[(ObjectionKind::Company, "copperleaf  ROBOTICS")]);
        assert!(by_name.applies(&target("Copperleaf Robotics", "https://any.example/")));
        assert!(!by_name.applies(&target("Copperleaf", "https://any.example/")));
        let by_id = suppression(&[(ObjectionKind::Company, COMPANY)]);
        for (record, applies) in [
            (json!({ "id": COMPANY }), true),
            (json!({ "id": ROLE, "target_id": COMPANY }), true),
            (json!({ "id": ROLE, "target_id": OTHER }), false),
            (json!({ "id": "evn_1", "_map": { "target_ids": [COMPANY] } }), true),
            (json!({ "id": "evn_1", "_map": { "target_ids": [COMPANY, OTHER] } }), false),
            (json!({ "id": "evn_1", "_map": { "target_ids": [] } }), false),
            (json!(null), false),
        ] {
            assert_eq!(by_id.applies(&record), applies, "{record}");
        }
    }

    #[test]
    fn a_text_without_a_name_is_not_longer_than_its_field() {
        let list = suppression(&[(ObjectionKind::Person, "A B")]);
        let headline = format!("{}A B", "A B ".repeat(74));
        let cleaned = list.filtered(json!({ "headline": headline })).unwrap();
        let cleaned = cleaned["headline"].as_str().unwrap();
        assert!(cleaned.chars().count() <= headline.len() && !cleaned.contains("A B"), "{cleaned}");
    }

    #[test]
    fn a_person_is_found_by_name_and_profile() {
        let person = json!({ "id": "per_1", "full_name": "José Maren", "links": [{ "url": "https://www.linkedin.example/in/JMaren/" }] });
        for matched in ["jose maren", "http://linkedin.example/in/jmaren"] {
            assert!(suppression(&[(ObjectionKind::Person, matched)]).applies(&person), "{matched}");
        }
        assert!(!suppression(&[(ObjectionKind::Company, "jose maren")]).applies(&person));
    }

    #[test]
    fn a_profile_that_a_query_tells_from_others_is_one_person() {
        let person =
            |url: &str| json!({ "id": "per_1", "full_name": "Any", "links": [{ "url": url }] });
        for (matched, own, other) in [
            (
                "https://www.linkedin.example/profile/view?id=123&utm_source=mail",
                "http://linkedin.example/profile/view/?trk=nav&id=123",
                "https://linkedin.example/profile/view?id=124",
            ),
            ("https://a.example/p?b=2&a=1", "https://a.example/P?a=1&b=2", "https://a.example/p"),
            (
                "https://a.example/p",
                "https://a.example/p/?utm_campaign=x",
                "https://a.example/p?id=1",
            ),
            ("https://a.example/#/jo", "https://a.example/#/jo", "https://a.example/#/ada"),
            ("https://a.example/jo", "https://a.example/jo#about", "https://a.example/"),
        ] {
            let list = suppression(&[(ObjectionKind::Person, matched)]);
            assert!(list.applies(&person(own)), "{own}");
            assert!(!list.applies(&person(other)), "{other}");
        }
    }

    #[test]
    fn texts_with_a_name_are_counted() {
        let list = suppression(&[(ObjectionKind::Person, "José Maren")]);
        let record = json!({
            "id": "sig_1", "name": "José Maren Ventures", "headline": "Jose Maren hires",
            "sources": [{ "url": "https://paper.example/jose-maren", "title": "JOSE MAREN" }],
        });
        assert_eq!(list.named(&record), 3);
        assert_eq!(list.named(&list.filtered(record).unwrap()), 0);
        assert_eq!(suppression(&[]).named(&json!("José Maren")), 0);
    }

    #[test]
    fn what_stays_names_nobody_who_objected_and_refers_to_nothing_that_is_gone() {
        let list = [(ObjectionKind::Person, "José Maren"), (ObjectionKind::Record, ROLE)];
        let signal = json!({
            "id": "sig_1", "headline": "Jose Maren's Copperleaf hires",
            "hiring": { "role_ids": [ROLE, "rol_2"] }, "filing": ROLE,
            "sources": [{ "name": "José Maren Ventures", "url": "https://paper.example/jose-maren", "title": "No name" }],
        });
        let cleaned = json!({
            "id": "sig_1", "headline": "[removed]'s Copperleaf hires",
            "hiring": { "role_ids": ["rol_2"] },
            "sources": [{ "name": "José Maren Ventures", "url": "https://paper.example/", "title": "No name" }],
        });
        assert_eq!(suppression(&list).filtered(signal.clone()), Some(cleaned));
        assert_eq!(suppression(&[]).filtered(signal.clone()), Some(signal));
        let mut deep = json!("José Maren");
        for _ in 0..100 {
            deep = json!([deep]);
        }
        let text = suppression(&list).filtered(deep).unwrap().to_string();
        assert!(!text.contains("Maren"), "{text}");
    }
}
