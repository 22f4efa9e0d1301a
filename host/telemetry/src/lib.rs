//! Traces: the way of a request through the host, in the types of OpenTelemetry, sent to a collector over OTLP. The
//! latest are kept in memory for the operator.
//!
//! # The modules, in reading order
//!
//! - [`context`](TraceContext): a place in a trace, as W3C Trace Context writes it.
//! - [`settings`](TelemetrySettings): what the operator configures, with OpenTelemetry's own environment variables.
//! - `sampler`: which traces are recorded.
//! - [`span`](Span): a part of a trace while it lasts.
//! - [`telemetry`](Telemetry): begins traces and their spans.
//! - `exporter`: the bounded queue of finished spans, and the task that keeps and sends them. `client` is its HTTP
//!   client.
//! - `kept`: the latest traces in memory, each a `kept_trace`; [`report`](TraceReport): one as the operator reads it.
//!
//! # Invariants
//!
//! - What is not recorded allocates nothing and reads no clock.
//! - Nothing waits for the collector: a span for which the queue has no room is dropped and counted.
//! - A caller decides whether its trace is recorded only for a bounded number of traces in a second.

mod client;
mod context;
mod exporter;
mod kept;
mod kept_trace;
mod report;
mod sampler;
mod settings;
mod span;
mod telemetry;

pub use context::TraceContext;
pub use exporter::SpanCounts;
pub use opentelemetry::trace::SpanKind;
pub use report::{SpanReport, TraceReport, TraceSummary};
pub use settings::TelemetrySettings;
pub use span::Span;
pub use telemetry::Telemetry;
