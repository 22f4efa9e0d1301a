//! The pages and the answers to questions show calls that the capabilities accept, and name only
//! what the catalog has.

use crate::{
    cases::plugins::shipped,
    harness::{Agent, Host},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// The kind of JSON that an example shows.
enum ExampleKind {
    /// A call of this capability.
    Call(&'static str),
    /// The body of a registration.
    Registration,
    /// The envelope of a refusal.
    Refusal,
    /// A part of an answer, or an event.
    Answer,
}

use ExampleKind::{Answer, Call, Refusal, Registration};

/// The examples of each page, in their order.
const PAGE_EXAMPLES: &[(&str, &[ExampleKind])] = &[
    ("about", &[Refusal]),
    ("claiming", &[Call("svc.phone-binding"), Call("svc.phone-binding")]),
    ("credits", &[Call("agent_credits")]),
    ("events-and-webhooks", &[Answer]),
    ("matching", &[Call("matching_sessions")]),
    ("meetings-and-calendar", &[Call("thread_meetings"), Call("calendar")]),
    ("privacy", &[Call("data_rights")]),
    ("proposing-and-replying", &[Call("pairings"), Call("pairings")]),
    ("publishing-a-listing", &[Call("agent_listings")]),
    ("safety-and-fairness", &[Answer]),
    ("searching", &[Call("agent_listings")]),
];

/// The examples of each answer, in their order.
const FAQ_EXAMPLES: &[(&str, &[ExampleKind])] = &[
    ("apply-to-a-role", &[Call("applications")]),
    ("approvals", &[Call("approvals")]),
    ("calendar-privacy", &[Call("calendar")]),
    ("calling-a-capability", &[Call("agent_listings"), Answer]),
    ("claim-by-phone", &[Call("svc.phone-binding"), Call("svc.phone-binding")]),
    ("credits", &[Call("agent_credits")]),
    ("dating-and-age", &[Call("owners")]),
    ("disclose-contact-data", &[Call("pairings")]),
    ("dry-run", &[Call("agent_listings")]),
    ("error-envelope", &[Refusal]),
    ("export-and-erase", &[Call("data_rights"), Call("data_rights")]),
    ("idempotency", &[Call("pairings")]),
    ("listing-states", &[Call("agent_listings")]),
    ("matching-sessions", &[Call("matching_sessions")]),
    ("meetings", &[Call("thread_meetings")]),
    ("messages", &[Call("conversations")]),
    ("organisations", &[Call("social_org")]),
    ("pagination", &[Call("agent_listings")]),
    ("pairings", &[Call("pairings")]),
    ("permissions", &[Call("social_permissions")]),
    ("phone-binding-required", &[Refusal]),
    ("prohibited-criteria", &[Call("listing_taxonomy")]),
    ("publish-a-listing", &[Call("agent_listings")]),
    ("quiet-hours", &[Call("owners")]),
    ("register-an-agent", &[Registration]),
    ("reports-and-appeals", &[Call("reports"), Call("reports")]),
    ("scams-and-reports", &[Call("reports")]),
    ("search-listings", &[Call("agent_listings")]),
    ("taxonomy", &[Call("listing_taxonomy")]),
    ("test-mode", &[Registration]),
    ("verify-a-signal", &[Call("signal_verification")]),
    ("webhooks", &[Call("svc.webhooks")]),
];

/// Error codes of valid calls in examples whose subject does not exist, beside those that end in
/// `_not_found`.
const EXAMPLE_ONLY_CODES: [&str; 5] =
    ["already_claimed", "cursor_invalid", "no_pending_bind", "not_found", "slot_in_past"];

/// The fenced JSON of a text.
fn examples(markdown: &str) -> Vec<Value> {
    let fenced = markdown.split("```json\n").skip(1);
    fenced
        .map(|rest| {
            let text = rest.split("```").next().unwrap();
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
        })
        .collect()
}

/// The access of every action, by capability and action.
async fn accesses(host: &Host) -> BTreeMap<(String, String), String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let catalog = host.get("/v1/capabilities").await.body;
    let mut accesses = BTreeMap::new();
    for capability in catalog["capabilities"].as_array().unwrap() {
        for action in capability["actions"].as_array().unwrap() {
            let key = (text(&capability["id"]), text(&action["name"]));
            accesses.insert(key, text(&action["access"]));
        }
    }
    accesses
}

struct Reader<'a> {
    agent: Agent<'a>,
    accesses: BTreeMap<(String, String), String>,
}

impl Reader<'_> {
    async fn check(&self, place: &str, example: &Value, kind: &ExampleKind) {
        match kind {
            Call(capability) => self.check_call(place, capability, example).await,
            Registration => {
                let url = format!("{}/v1/agents/register", self.agent.host.url);
                let request = self.agent.host.client.post(url).json(example);
                let reply = request.send().await.unwrap();
                assert!(reply.status().is_success(), "{place}: {}", reply.text().await.unwrap());
            }
            Refusal => {
                let envelope = [&example["error_code"], &example["message"]];
                assert!(envelope.iter().all(|text| text.is_string()), "{place}: {example:#}");
                assert!(example["retryable"].is_boolean(), "{place}: {example:#}");
                // The next step is a call too, although fields that the person must
                // give may be missing.
                let next = &example["next"];
                let action = next["input"]["action"].as_str().unwrap().to_owned();
                let capability = next["capability"].as_str().unwrap().to_owned();
                assert!(self.accesses.contains_key(&(capability, action)), "{place}: {next}");
            }
            Answer => assert!(example["action"].is_null(), "{place}: this is a call"),
        }
    }

    /// Asserts that the host accepts a call. Writes are dry runs, so that examples do
    /// not affect each other.
    async fn check_call(&self, place: &str, capability: &str, example: &Value) {
        let mut body = example.clone();
        let key = (capability.to_owned(), body["action"].as_str().unwrap().to_owned());
        let access = self.accesses.get(&key).unwrap_or_else(|| panic!("{place}: no such {key:?}"));
        if access == "write" {
            body["dry_run"] = json!(true);
        }
        let reply = self.agent.call(capability, body).await;
        let code = reply.body["error_code"].as_str().unwrap_or_default();
        let is_unknown = code.ends_with("_not_found") || EXAMPLE_ONLY_CODES.contains(&code);
        let fits = reply.status == 200 || is_unknown;
        assert!(fits, "{place}: {example} is refused: {}", reply.text);
    }
}

/// Names in the texts that the documents do not have: categories of the taxonomy, nested fields of
/// answers, fields of the metadata, and the name of a tool.
const OTHER_NAMES: [&str; 18] = [
    "claim_method",
    "claim_uri",
    "existing_id",
    "from_text",
    "home.rent",
    "lead.general",
    "pro.client",
    "pro.lawyer",
    "pro.service",
    "prohibited_criteria",
    "register_uri",
    "social.friend",
    "svc_phone-binding",
    "venture.cofounder",
    "venture.invest",
    "venture.raise",
    "via",
    "work.candidate",
];

/// The actions of each shipped capability, as its reference has them.
fn documented_actions() -> BTreeMap<String, BTreeSet<String>> {
    let id_and_actions = |(_, page): (String, String)| {
        let id = page.split('`').nth(1).unwrap().to_owned();
        let headings = page.lines().filter_map(|line| line.strip_prefix("### "));
        (id, headings.map(str::to_owned).collect())
    };
    texts("../docs/capabilities").into_iter().map(id_and_actions).collect()
}

/// The names that a text may use: those in the code of the documents, and the texts' own slugs.
fn documented_names() -> BTreeSet<String> {
    let general = texts("../docs").into_iter();
    let general = general.filter(|(slug, _)| ["api", "feeds", "mcp"].contains(&slug.as_str()));
    let mut names: BTreeSet<String> = OTHER_NAMES.iter().map(|name| (*name).to_owned()).collect();
    for (_, document) in general.chain(texts("../docs/capabilities")) {
        let fenced = document.split("```").skip(1).step_by(2);
        for code in fenced.chain(inline_code(&document)) {
            let words = code.split(|letter| !is_name_character(letter));
            names.extend(words.map(|word| word.trim_matches('.').to_owned()));
        }
    }
    names.extend(all_texts().map(|(slug, _)| slug));
    names
}

fn all_texts() -> impl Iterator<Item = (String, String)> {
    texts("content/pages").into_iter().chain(texts("faq/entries"))
}

fn inline_code(markdown: &str) -> impl Iterator<Item = &str> {
    let prose = markdown.split("```").step_by(2);
    prose.flat_map(|text| text.split('`').skip(1).step_by(2))
}

fn is_name_character(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_.-".contains(letter)
}

/// Returns the words of a piece of code; `None` if one of them is not a name.
fn names(code: &str) -> Option<Vec<&str>> {
    let is_name = |word: &&str| {
        word.starts_with(|letter: char| letter.is_ascii_lowercase())
            && word.chars().all(is_name_character)
    };
    let words: Vec<_> = code.split_whitespace().collect();
    words.iter().all(is_name).then_some(words)
}

#[test]
fn texts_name_only_capabilities_and_fields_that_exist() {
    let (known, actions) = (documented_names(), documented_actions());
    let is_known =
        |name: &str| known.contains(name) || name.split('.').all(|part| known.contains(part));
    let mut faults = Vec::new();
    for (slug, markdown) in all_texts() {
        for words in inline_code(&markdown).filter_map(names) {
            let exists = match words[..] {
                [id, action] if actions.contains_key(id) => actions[id].contains(action),
                _ => words.iter().all(|word| is_known(word)),
            };
            if !exists {
                faults.push(format!("{slug}: {}", words.join(" ")));
            }
        }
    }
    assert!(faults.is_empty(), "no document has these names: {faults:#?}");
}

/// Checks every example of the texts against the host; each has to be in the table.
async fn check_all(texts: &[(String, String)], table: &[(&str, &[ExampleKind])]) {
    let host = shipped().await;
    let agent = host.test_agent().await;
    agent.claim("+14155550100").await;
    let accesses = accesses(&host).await;
    let reader = Reader { agent, accesses };
    let mut count = 0;
    for (slug, markdown) in texts {
        let named = table.iter().find(|(name, _)| name == slug).map_or(&[][..], |(_, kind)| kind);
        let examples = examples(markdown);
        assert_eq!(examples.len(), named.len(), "{slug}: say in the table what each example shows");
        for (number, (example, kind)) in examples.iter().zip(named).enumerate() {
            reader.check(&format!("{slug}, example {}", number + 1), example, kind).await;
            count += 1;
        }
    }
    assert_eq!(count, table.iter().map(|(_, kind)| kind.len()).sum::<usize>());
}

/// The Markdown files of a folder, by name.
fn texts(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins").join(folder);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let slug = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    files.map(|path| (slug(&path), std::fs::read_to_string(&path).unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_in_pages_are_accepted() {
    check_all(&texts("content/pages"), PAGE_EXAMPLES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_in_faq_answers_are_accepted() {
    check_all(&texts("faq/entries"), FAQ_EXAMPLES).await;
}
