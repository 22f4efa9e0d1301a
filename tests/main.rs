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
    mod agent_credits_concurrent;
    mod agent_credits_transfers;
    mod agent_listings;
    mod agent_listings_orgs;
    mod agent_listings_search;
    mod agent_listings_without_agent;
    mod audit_log;
    mod auth_rows;
    mod author;
    mod author_check;
    mod author_dev;
    mod author_mistakes;
    mod author_mistakes_files;
    mod authorize;
    mod calendar;
    mod calendar_files;
    mod calendar_readers;
    mod calendar_reservations;
    mod calls;
    mod catalog;
    mod claim;
    mod clients;
    mod command;
    mod connections;
    mod connections_flood;
    mod content_examples;
    mod conversations;
    mod conversations_blocked;
    mod conversations_lists;
    mod conversations_members;
    mod deliveries;
    mod descriptor_conformance;
    mod due_work;
    mod event_streams;
    mod events;
    mod failures;
    mod faults;
    mod feeds;
    mod feeds_publications;
    mod feeds_requests;
    mod feeds_served;
    mod feeds_transfer;
    mod frozen;
    mod guide;
    mod handoffs;
    mod hostile;
    mod hostile_calls;
    mod hostile_claims;
    mod hostile_concurrent;
    mod hostile_descriptors;
    mod hostile_files;
    mod hostile_reference;
    mod hostile_storage;
    mod identity;
    mod indexing;
    mod install;
    mod isolation;
    mod limits;
    mod map;
    mod map_search;
    mod markup;
    mod matching_editors;
    mod matching_rounds;
    mod matching_rounds_confirmation;
    mod matching_sessions;
    mod matching_times;
    mod mcp;
    mod mcp_claim;
    mod mcp_documents;
    mod mcp_examples;
    mod mcp_streams;
    mod mcp_tools;
    mod message_links;
    mod metrics;
    mod migration;
    mod modes;
    mod oauth;
    mod oauth_tokens;
    mod onboarding;
    mod operator;
    mod operator_address;
    mod operator_commands;
    mod owner_verification;
    mod owner_verification_expiry;
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
    mod proxies;
    mod publishers;
    mod publishing;
    mod publishing_nodes;
    mod publishing_rollback;
    mod queries;
    mod queries_long;
    mod quotas;
    mod quotas_stored;
    mod random_walks;
    mod reference;
    mod refusals;
    mod registries;
    mod replacement;
    mod reports;
    mod reports_subjects;
    mod roles;
    mod sandbox;
    mod sign_in_agents;
    mod signal_verification;
    mod signal_verification_builds;
    mod signing_keys;
    mod social_org;
    mod social_org_members;
    mod social_permissions;
    mod social_permissions_grants;
    mod social_relationships;
    mod source_rules;
    mod sources;
    mod state;
    mod states;
    mod states_conversations;
    mod states_matching;
    mod store;
    mod store_persistence;
    mod story;
    mod thread_meetings;
    mod thread_meetings_conflicts;
    mod thread_meetings_files;
    mod text_messages;
    mod threat_model;
    mod toolchains;
    mod tls;
    mod torture;
    mod visibility;
    mod webhooks;
}
