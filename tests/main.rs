//! Black box: HTTP, with a host, a temporary folder and free ports for each test.
#![expect(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

/// The allocator of `portolan`, because most hosts run within this process.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod harness;

mod cases {
    mod agent_credits;
    mod agent_credits_at_once;
    mod agent_credits_moved;
    mod agent_listings;
    mod agent_listings_away;
    mod agent_listings_found;
    mod agent_listings_orgs;
    mod author;
    mod author_check;
    mod author_dev;
    mod author_mistakes;
    mod author_mistakes_files;
    mod authorize;
    mod calendar;
    mod calendar_booked;
    mod calendar_files;
    mod calendar_readers;
    mod calls;
    mod catalog;
    mod claim;
    mod clients;
    mod command;
    mod connections;
    mod content_examples;
    mod conversations;
    mod conversations_apart;
    mod conversations_listed;
    mod conversations_members;
    mod deliveries;
    mod due_work;
    mod event_streams;
    mod events;
    mod failures;
    mod faults;
    mod feeds;
    mod feeds_asked;
    mod feeds_changed;
    mod feeds_sent;
    mod feeds_served;
    mod frozen;
    mod guide;
    mod handoffs;
    mod histories;
    mod hostile;
    mod hostile_at_once;
    mod hostile_built;
    mod hostile_called;
    mod hostile_claims;
    mod hostile_described;
    mod hostile_reference;
    mod hostile_stored;
    mod identity;
    mod indexing;
    mod install;
    mod invisible;
    mod limits;
    mod map;
    mod map_search;
    mod markup;
    mod matching_editors;
    mod matching_rounds;
    mod matching_rounds_ends;
    mod matching_sessions;
    mod matching_times;
    mod mcp;
    mod mcp_claim;
    mod mcp_documents;
    mod mcp_examples;
    mod mcp_streams;
    mod mcp_tools;
    mod metrics;
    mod migration;
    mod modes;
    mod newcomer;
    mod oauth;
    mod oauth_tokens;
    mod operator;
    mod operator_address;
    mod owner_verification;
    mod owner_verification_kept;
    mod owner_verification_orgs;
    mod pairings;
    mod pairings_contact;
    mod pairings_ends;
    mod pairings_mutual;
    mod people;
    mod personal;
    mod personal_canaries;
    mod personal_hidden;
    mod plugins;
    mod process;
    mod promises;
    mod publishers;
    mod publishing;
    mod publishing_back;
    mod publishing_nodes;
    mod queries;
    mod queries_long;
    mod quotas;
    mod quotas_stored;
    mod reference;
    mod refusals;
    mod registries;
    mod replacement;
    mod reports;
    mod reports_subjects;
    mod roles;
    mod sandbox;
    mod signal_verification;
    mod signal_verification_built;
    mod signed_in;
    mod social_org;
    mod social_org_members;
    mod social_permissions;
    mod social_permissions_grants;
    mod social_relationships;
    mod sources;
    mod state;
    mod states;
    mod states_conversations;
    mod states_matching;
    mod store;
    mod store_kept;
    mod story;
    mod thread_meetings;
    mod thread_meetings_apart;
    mod thread_meetings_files;
    mod tidy;
    mod toolchains;
    mod torture;
    mod walk;
    mod webhooks;
}
