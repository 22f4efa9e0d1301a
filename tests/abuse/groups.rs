//! The groups of the table of abuses, each of which is tried on a host of its own.

use crate::{
    abuse::{
        calls, connections, devices, documents, events, hour, links, mcp, messages, operator,
        pages, registrations,
        row::{Group, LIVE},
        run_time, tokens, webhooks,
    },
    harness::Options,
};

/// The host of groups that need few capabilities.
fn small() -> Options {
    let names = ["svc_phone_binding", "svc_whoami", "svc_events", "owners", "social_permissions"];
    Options::with(&names).configuration(LIVE)
}

pub const REGISTRATIONS: Group =
    Group { test: "abuse::registrations_cost_little", options: small, rows: registrations::ROWS };
pub const TOKENS: Group =
    Group { test: "abuse::tokens_cost_little", options: tokens::options, rows: tokens::ROWS };
pub const PAGES: Group =
    Group { test: "abuse::pages_cost_little", options: small, rows: pages::ROWS };
pub const DEVICES: Group =
    Group { test: "abuse::devices_cost_little", options: devices::options, rows: devices::ROWS };
pub const MESSAGES: Group =
    Group { test: "abuse::messages_cost_little", options: messages::options, rows: messages::ROWS };
pub const MCP: Group =
    Group { test: "abuse::mcp_costs_little", options: mcp::options, rows: mcp::ROWS };
pub const CALLS: Group =
    Group { test: "abuse::calls_cost_little", options: documents::options, rows: calls::ROWS };
pub const RUN_TIME: Group =
    Group { test: "abuse::run_time_is_bounded", options: run_time::options, rows: run_time::ROWS };
pub const EVENTS: Group =
    Group { test: "abuse::events_cost_little", options: small, rows: events::ROWS };
pub const PRIVATE: Group = Group {
    test: "abuse::private_addresses_are_out_of_reach",
    options: webhooks::closed_options,
    rows: webhooks::CLOSED,
};
pub const WEBHOOKS: Group =
    Group { test: "abuse::webhooks_cost_little", options: webhooks::options, rows: webhooks::ROWS };
pub const DOCUMENTS: Group = Group {
    test: "abuse::documents_cost_little",
    options: documents::options,
    rows: documents::ROWS,
};
pub const CONNECTIONS: Group = Group {
    test: "abuse::connections_cost_little",
    options: connections::options,
    rows: connections::ROWS,
};
pub const OPERATOR: Group =
    Group { test: "abuse::the_operators_address_is_closed", options: small, rows: operator::ROWS };

pub const LINKS: Group =
    Group { test: "abuse::links_cost_little", options: documents::options, rows: links::ROWS };

pub const HOUR: Group = Group {
    test: "abuse::an_hour_of_everything_costs_little",
    options: hour::options,
    rows: hour::ROWS,
};

/// All groups, in the order of the document.
pub const TABLE: [&Group; 16] = [
    &REGISTRATIONS,
    &TOKENS,
    &PAGES,
    &DEVICES,
    &MESSAGES,
    &MCP,
    &CALLS,
    &RUN_TIME,
    &EVENTS,
    &PRIVATE,
    &WEBHOOKS,
    &DOCUMENTS,
    &CONNECTIONS,
    &OPERATOR,
    &LINKS,
    &HOUR,
];
