//! The limits of one call and of one host, with their defaults; the configuration changes them.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The limits, as the `[limits]` table of the configuration sets them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    pub call_memory_bytes: u64,
    pub call_wall_time_ms: u64,
    pub call_queue_time_ms: u64,
    pub call_input_bytes: u64,
    pub call_output_bytes: u64,
    pub concurrent_calls: u64,
    pub concurrent_calls_per_capability: u64,
    pub concurrent_calls_per_caller: u64,
    pub component_bytes: u64,
    pub compile_time_ms: u64,
    pub connections: u64,
    pub connections_per_address: u64,
    pub first_head_time_ms: u64,
    pub request_head_time_ms: u64,
    pub request_body_time_ms: u64,
    pub answer_stall_time_ms: u64,
    pub stop_delay_ms: u64,
    pub drain_time_ms: u64,
    pub anonymous_calls_per_minute: u64,
    pub claimed_calls_per_minute: u64,
    pub writes_per_minute: u64,
    pub anonymous_run_ms_per_hour: u64,
    pub claimed_run_ms_per_hour: u64,
    pub requests_per_minute: u64,
    pub work_ms_per_hour: u64,
    pub page_work_ms_per_hour: u64,
    pub stored_bytes_per_hour: u64,
    pub token_requests_per_minute: u64,
    pub registrations_per_hour: u64,
    pub messages_per_hour: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            call_memory_bytes: 64 << 20,
            call_wall_time_ms: 2_000,
            call_queue_time_ms: 2_000,
            call_input_bytes: 256 << 10,
            call_output_bytes: 1 << 20,
            concurrent_calls: 256,
            concurrent_calls_per_capability: 128,
            concurrent_calls_per_caller: 8,
            component_bytes: 64 << 20,
            compile_time_ms: 120_000,
            connections: 65_536,
            connections_per_address: 256,
            first_head_time_ms: 5_000,
            request_head_time_ms: 75_000,
            request_body_time_ms: 30_000,
            answer_stall_time_ms: 60_000,
            stop_delay_ms: 0,
            drain_time_ms: 10_000,
            anonymous_calls_per_minute: 60,
            claimed_calls_per_minute: 300,
            writes_per_minute: 20,
            anonymous_run_ms_per_hour: 60_000,
            claimed_run_ms_per_hour: 300_000,
            requests_per_minute: 3_000,
            work_ms_per_hour: 25_000,
            page_work_ms_per_hour: 10_000,
            stored_bytes_per_hour: 12_000_000,
            token_requests_per_minute: 60,
            registrations_per_hour: 30,
            messages_per_hour: 30,
        }
    }
}

/// One limit as it is shown to callers and operators.
#[derive(Debug, Clone)]
pub struct Limit {
    pub name: &'static str,
    pub value: u64,
    pub unit: &'static str,
    pub description: &'static str,
    /// The smallest permitted value.
    pub minimum: u64,
}

impl Limits {
    /// Returns every limit, in a fixed order.
    pub fn table(&self) -> [Limit; 30] {
        let row = |name, value, unit, minimum, description| Limit {
            name,
            value,
            unit,
            description,
            minimum,
        };
        [
            row(
                "call_memory_bytes",
                self.call_memory_bytes,
                "byte",
                1 << 20,
                "Memory of one call, summed over its sandbox.",
            ),
            row(
                "call_wall_time_ms",
                self.call_wall_time_ms,
                "millisecond",
                10,
                "Time one call may take.",
            ),
            row(
                "call_queue_time_ms",
                self.call_queue_time_ms,
                "millisecond",
                0,
                "Time one call waits for a free sandbox.",
            ),
            row("call_input_bytes", self.call_input_bytes, "byte", 1 << 10, "Body of one call."),
            row(
                "call_output_bytes",
                self.call_output_bytes,
                "byte",
                1 << 10,
                "Answer of one call.",
            ),
            row(
                "concurrent_calls",
                self.concurrent_calls,
                "count",
                1,
                "Calls that run at once on this host.",
            ),
            row(
                "concurrent_calls_per_capability",
                self.concurrent_calls_per_capability,
                "count",
                1,
                "Calls of one capability that run at once.",
            ),
            row(
                "concurrent_calls_per_caller",
                self.concurrent_calls_per_caller,
                "count",
                1,
                "Calls of one person's agents, or of one unclaimed agent, that run at once.",
            ),
            row(
                "component_bytes",
                self.component_bytes,
                "byte",
                1 << 10,
                "Size of a component's file.",
            ),
            row(
                "compile_time_ms",
                self.compile_time_ms,
                "millisecond",
                100,
                "Time to compile one component.",
            ),
            row(
                "connections",
                self.connections,
                "count",
                1,
                "Open connections of agents, if the system allows as many open files.",
            ),
            row(
                "connections_per_address",
                self.connections_per_address,
                "count",
                1,
                "Open connections of one address.",
            ),
            row(
                "first_head_time_ms",
                self.first_head_time_ms,
                "millisecond",
                100,
                "Time for the head of the first request on a connection to arrive.",
            ),
            row(
                "request_head_time_ms",
                self.request_head_time_ms,
                "millisecond",
                100,
                "Time for the head of a later request on a connection to arrive.",
            ),
            row(
                "request_body_time_ms",
                self.request_body_time_ms,
                "millisecond",
                100,
                "Time for the body of a request to arrive.",
            ),
            row(
                "answer_stall_time_ms",
                self.answer_stall_time_ms,
                "millisecond",
                100,
                "Time within which a client must receive more of an answer.",
            ),
            row(
                "stop_delay_ms",
                self.stop_delay_ms,
                "millisecond",
                0,
                "Time in which a host that is told to stop still takes new connections.",
            ),
            row(
                "drain_time_ms",
                self.drain_time_ms,
                "millisecond",
                0,
                "Time for calls in flight to end when the host stops.",
            ),
            row(
                "anonymous_calls_per_minute",
                self.anonymous_calls_per_minute,
                "count",
                1,
                "Calls a minute of an anonymous agent.",
            ),
            row(
                "claimed_calls_per_minute",
                self.claimed_calls_per_minute,
                "count",
                1,
                "Calls a minute of a claimed agent.",
            ),
            row(
                "writes_per_minute",
                self.writes_per_minute,
                "count",
                1,
                "Calls a minute of actions that write, for any agent.",
            ),
            row(
                "anonymous_run_ms_per_hour",
                self.anonymous_run_ms_per_hour,
                "millisecond",
                1,
                "Time an hour that the calls of an anonymous agent run.",
            ),
            row(
                "claimed_run_ms_per_hour",
                self.claimed_run_ms_per_hour,
                "millisecond",
                1,
                "Time an hour that the calls of all agents of a person run.",
            ),
            row(
                "requests_per_minute",
                self.requests_per_minute,
                "count",
                1,
                "Requests a minute from one address.",
            ),
            row(
                "work_ms_per_hour",
                self.work_ms_per_hour,
                "millisecond",
                1,
                "Time of processors an hour for the calls, messages and polls of one address but those of \
                 claimed agents, as estimated for each kind, with the computing of their calls.",
            ),
            row(
                "page_work_ms_per_hour",
                self.page_work_ms_per_hour,
                "millisecond",
                1,
                "Time of processors an hour for the other requests of one address, as estimated for \
                 each kind.",
            ),
            row(
                "stored_bytes_per_hour",
                self.stored_bytes_per_hour,
                "byte",
                1,
                "Bytes an hour that requests of one address but those of claimed agents may add to the \
                 database, as estimated for each kind.",
            ),
            row(
                "token_requests_per_minute",
                self.token_requests_per_minute,
                "count",
                1,
                "Requests a minute of a client for a token, or about one.",
            ),
            row(
                "registrations_per_hour",
                self.registrations_per_hour,
                "count",
                1,
                "Registrations an hour from one address.",
            ),
            row(
                "messages_per_hour",
                self.messages_per_hour,
                "count",
                1,
                "Text messages an hour for callers at one address.",
            ),
        ]
    }

    pub fn call_wall_time(&self) -> Duration {
        Duration::from_millis(self.call_wall_time_ms)
    }

    pub fn call_queue_time(&self) -> Duration {
        Duration::from_millis(self.call_queue_time_ms)
    }

    pub fn compile_time(&self) -> Duration {
        Duration::from_millis(self.compile_time_ms)
    }

    pub fn first_head_time(&self) -> Duration {
        Duration::from_millis(self.first_head_time_ms)
    }

    pub fn request_head_time(&self) -> Duration {
        Duration::from_millis(self.request_head_time_ms)
    }

    pub fn request_body_time(&self) -> Duration {
        Duration::from_millis(self.request_body_time_ms)
    }

    pub fn answer_stall_time(&self) -> Duration {
        Duration::from_millis(self.answer_stall_time_ms)
    }

    pub fn stop_delay(&self) -> Duration {
        Duration::from_millis(self.stop_delay_ms)
    }

    pub fn drain_time(&self) -> Duration {
        Duration::from_millis(self.drain_time_ms)
    }
}
