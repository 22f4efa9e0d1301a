//! What somebody outside can try with the limits of production, and what it may cost: one address in its worst
//! hour less than 50 MB, five minutes of a processor and the day's budget of messages, while honest agents at
//! other addresses are served. `docs/security/abuse.md` has the same rows.

mod attacker;
mod calls;
mod connections;
mod cost;
mod documents;
mod events;
mod groups;
mod honest;
mod mcp;
mod messages;
mod operator;
mod pages;
mod processor;
mod raw;
mod reference;
mod registrations;
mod row;
mod scene;
mod tokens;
mod webhooks;

use reference::record;

#[test]
fn registrations_cost_little() {
    groups::REGISTRATIONS.run(record);
}

#[test]
fn tokens_cost_little() {
    groups::TOKENS.run(record);
}

#[test]
fn pages_cost_little() {
    groups::PAGES.run(record);
}

#[test]
fn messages_cost_little() {
    groups::MESSAGES.run(record);
}

#[test]
fn mcp_costs_little() {
    groups::MCP.run(record);
}

#[test]
fn calls_cost_little() {
    groups::CALLS.run(record);
}

#[test]
fn events_cost_little() {
    groups::EVENTS.run(record);
}

#[test]
fn private_addresses_are_out_of_reach() {
    groups::PRIVATE.run(record);
}

#[test]
fn webhooks_cost_little() {
    groups::WEBHOOKS.run(record);
}

#[test]
fn documents_cost_little() {
    groups::DOCUMENTS.run(record);
}

#[test]
fn connections_cost_little() {
    groups::CONNECTIONS.run(record);
}

#[test]
fn the_operators_address_is_closed() {
    groups::OPERATOR.run(record);
}
