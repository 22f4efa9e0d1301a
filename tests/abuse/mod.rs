//! The abuses that outsiders can try with the limits of production, and the bounds of their costs: one address
//! in its worst hour less than 50 MB, five minutes of a processor and the day's budget of messages, while
//! honest agents at other addresses are served. `docs/security/abuse.md` has the same rows.

mod attacker;
mod calls;
mod connections;
mod cost;
mod devices;
mod documents;
mod endpoints;
mod events;
mod groups;
mod honest;
mod hour;
mod links;
mod mcp;
mod messages;
mod operator;
mod pages;
mod processor;
mod raw;
mod reference;
mod registrations;
mod row;
mod run_time;
mod scene;
mod tokens;
mod webhooks;

/// Tries the rows of a group.
fn run(group: &row::Group) {
    group.run(reference::record);
}

#[test]
fn registrations_cost_little() {
    run(&groups::REGISTRATIONS);
}

#[test]
fn tokens_cost_little() {
    run(&groups::TOKENS);
}

#[test]
fn pages_cost_little() {
    run(&groups::PAGES);
}

#[test]
fn devices_cost_little() {
    run(&groups::DEVICES);
}

#[test]
fn messages_cost_little() {
    run(&groups::MESSAGES);
}

#[test]
fn mcp_costs_little() {
    run(&groups::MCP);
}

#[test]
fn calls_cost_little() {
    run(&groups::CALLS);
}

#[test]
fn run_time_is_bounded() {
    run(&groups::RUN_TIME);
}

#[test]
fn events_cost_little() {
    run(&groups::EVENTS);
}

#[test]
fn private_addresses_are_out_of_reach() {
    run(&groups::PRIVATE);
}

#[test]
fn webhooks_cost_little() {
    run(&groups::WEBHOOKS);
}

#[test]
fn documents_cost_little() {
    run(&groups::DOCUMENTS);
}

#[test]
fn connections_cost_little() {
    run(&groups::CONNECTIONS);
}

#[test]
fn the_operators_address_is_closed() {
    run(&groups::OPERATOR);
}

#[test]
fn links_cost_little() {
    run(&groups::LINKS);
}

#[test]
fn an_hour_of_everything_costs_little() {
    run(&groups::HOUR);
}
