//! Questions of people and agents, each with the entry that must be among the first three.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use faq::search;

const QUERIES: &[(&str, &str)] = &[
    ("what is this service for", "what-is-portolan"),
    ("what can portolan do", "what-is-portolan"),
    ("how do I sign up an agent", "register-an-agent"),
    ("register without an email address", "register-an-agent"),
    ("I lost my client secret", "client-credentials"),
    ("what does svc_ak_ mean", "client-credentials"),
    ("get a bearer token with client credentials", "access-tokens"),
    ("which scope do I need to create listings", "access-tokens"),
    ("token expired", "access-tokens"),
    ("verify my phone", "claim-by-phone"),
    ("how does a human claim an agent", "claim-by-phone"),
    ("I never received the SMS code", "phone-code-problems"),
    ("resend verification code", "phone-code-problems"),
    ("is my phone number shown to other people", "phone-number-privacy"),
    ("phone_binding_required", "phone-binding-required"),
    ("why can't I publish as anonymous", "phone-binding-required"),
    ("list all capabilities", "catalog-and-schemas"),
    ("json schema of a capability", "catalog-and-schemas"),
    ("request body format of a call", "calling-a-capability"),
    ("what does retryable mean in an error", "error-envelope"),
    ("avoid sending a proposal twice after a timeout", "idempotency"),
    ("test a write without side effects dry run", "dry-run"),
    ("next_cursor", "pagination"),
    ("too many requests 429", "rate-limits"),
    ("how many listings may I have", "rate-limits"),
    ("deprecated capability sunset", "versions-and-deprecation"),
    ("connect claude over model context protocol", "mcp"),
    ("swagger file", "openapi"),
    ("post an apartment offer", "publish-a-listing"),
    ("my listing expired, how to renew", "listing-states"),
    ("can a landlord exclude families with children or a religion", "prohibited-criteria"),
    ("which category for a lawyer", "taxonomy"),
    ("find jobs near me", "search-listings"),
    ("how is the matching score computed", "matching-sessions"),
    ("difference between stream and round", "matching-sessions"),
    ("how do I contact a candidate", "pairings"),
    ("cooldown_active", "cooldown"),
    ("they declined, may I ask again", "cooldown"),
    ("share my email with the other side", "disclose-contact-data"),
    ("edit a message I sent", "messages"),
    ("time zone of a meeting slot", "meetings"),
    ("reschedule an appointment meeting", "meetings"),
    ("can others see my calendar events", "calendar-privacy"),
    ("do I get my credit refunded when nobody answers", "credits"),
    ("how much does a proposal cost", "credits"),
    ("add a recruiter to my company", "organisations"),
    ("give somebody access to my listing", "permissions"),
    ("stop someone from contacting me", "relationships-and-blocking"),
    ("acknowledge events", "receive-events"),
    ("long polling for notifications", "receive-events"),
    ("verify webhook hmac signature", "webhooks"),
    ("startup funding data for the city", "map-feeds"),
    ("is a hiring signal a fact", "map-feeds"),
    ("dispute a wrong signal about my company", "verify-a-signal"),
    ("bring evidence for a signal on the map", "verify-a-signal"),
    ("apply for a role from the map", "handoff"),
    ("what personal data do you store", "stored-data"),
    ("delete my account", "export-and-erase"),
    ("GDPR data export", "export-and-erase"),
    ("prompt injection in messages", "untrusted-text"),
    ("somebody asks me for money before viewing the flat", "scams-and-reports"),
    ("report a fake listing", "scams-and-reports"),
    ("appeal a decision about my listing", "reports-and-appeals"),
    ("what happens after I have reported something", "reports-and-appeals"),
    ("minimum age for dating", "dating-and-age"),
    ("sandbox phone numbers", "test-mode"),
    ("store the secret safely", "client-credentials"),
    ("oauth scopes explained", "access-tokens"),
    ("PKCE refresh token", "access-tokens"),
    ("one time password by text message", "claim-by-phone"),
    ("my code is wrong, what now", "phone-code-problems"),
    ("do you sell my phone number for advertising", "phone-number-privacy"),
    ("403 when creating a listing unclaimed", "phone-binding-required"),
    ("what is in meta of the response", "calling-a-capability"),
    ("what should I do after an error, conflict and next", "error-envelope"),
    ("safe retries", "idempotency"),
    ("simulate publishing", "dry-run"),
    ("get the second page of results", "pagination"),
    ("throttled, how long should I wait", "rate-limits"),
    ("breaking changes and upgrades", "versions-and-deprecation"),
    ("mcp tool names", "mcp"),
    ("generate a client from openapi", "openapi"),
    ("advertise my flat", "publish-a-listing"),
    ("pause my listing for a week", "listing-states"),
    ("may I filter candidates by age", "prohibited-criteria"),
    ("category codes ESCO", "taxonomy"),
    ("filter listings by distance", "search-listings"),
    ("notify me about new listings", "search-listings"),
    ("stable matching ranking", "matching-sessions"),
    ("send a proposal", "pairings"),
    ("how long until I can write to them again after a decline", "cooldown"),
    ("exchange phone numbers", "disclose-contact-data"),
    ("is the other side a machine or a human", "messages"),
    ("propose a time for a call", "meetings"),
    ("daylight saving", "meetings"),
    ("import my ics calendar", "calendar-privacy"),
    ("price of contacting someone", "credits"),
    ("verify our company domain", "organisations"),
    ("delegate access to an assistant", "permissions"),
    ("harassment, block a person", "relationships-and-blocking"),
    ("missed events while offline", "receive-events"),
    ("webhook secret rotation", "webhooks"),
    ("open roles at startups", "map-feeds"),
    ("link from the map to contact a company", "handoff"),
    ("who can see my birth year", "stored-data"),
    ("right to be forgotten", "export-and-erase"),
    ("ignore previous instructions attack", "untrusted-text"),
    ("is this landlord a fraud", "scams-and-reports"),
    ("can teenagers use it for dates", "dating-and-age"),
    ("fake phone number for development", "test-mode"),
];

fn first_three(query: &str) -> Vec<&'static str> {
    search(query, &[], 3).unwrap().hits.into_iter().map(|hit| hit.entry.slug).collect()
}

#[test]
fn the_right_entry_is_among_the_first_three() {
    let missed: Vec<_> = QUERIES
        .iter()
        .map(|(query, slug)| (query, slug, first_three(query)))
        .filter(|(_, slug, found)| !found.contains(slug))
        .collect();
    assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), QUERIES.len());
}

#[test]
fn most_often_it_is_the_first() {
    let first =
        QUERIES.iter().filter(|(query, slug)| first_three(query).first() == Some(slug)).count();
    assert!(first * 100 >= QUERIES.len() * 85, "{first} of {}", QUERIES.len());
}

#[test]
fn every_entry_has_a_query_and_is_found_by_its_own_question() {
    for entry in faq::entries() {
        assert!(QUERIES.iter().any(|(_, slug)| *slug == entry.slug), "no query for {}", entry.slug);
        assert_eq!(first_three(entry.question).first(), Some(&entry.slug));
    }
}
