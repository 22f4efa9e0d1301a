//! The queue of finished spans, and the task that keeps them and sends them to the collector in batches.

use crate::{client::Client, kept::KeptTraces, settings::TelemetrySettings};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    trace::{SpanData, SpanExporter as _},
};
use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, timeout_at},
};

/// The number of finished spans that wait to be sent.
const QUEUE: usize = 16_384;
/// The maximum number of spans of one request.
const BATCH: usize = 2_048;
/// The number of batches that wait to be sent.
const WAITING_BATCHES: usize = 8;
/// How long a batch that is not full waits for more spans.
const DELAY: Duration = Duration::from_secs(1);
/// The maximum number of bytes of the file of headers.
const MAX_HEADERS_BYTES: u64 = 64 << 10;

/// A span before its end.
#[derive(Debug)]
pub(crate) struct Lasting {
    pub(crate) data: SpanData,
    pub(crate) started: std::time::Instant,
    /// The queue of the span once it has ended.
    pub(crate) queue: Arc<Queue>,
}

enum Queued {
    Span(Box<Lasting>),
    /// All spans before it are to be sent at once.
    Flush(oneshot::Sender<()>),
}

/// The numbers of spans since the start, by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpanCounts {
    pub exported: u64,
    /// Spans for which the queue had no room.
    pub dropped: u64,
    /// Spans that the collector did not take.
    pub failed: u64,
}

/// The queue of finished spans.
#[derive(Debug)]
pub(crate) struct Queue {
    spans: mpsc::Sender<Queued>,
    pub(crate) scope: InstrumentationScope,
    counters: Arc<Counters>,
}

#[derive(Debug, Default)]
struct Counters {
    exported: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
}

impl Queue {
    /// Starts the task that keeps spans, and sends them if there is a collector.
    pub(crate) fn start(
        settings: &TelemetrySettings,
        kept: Arc<KeptTraces>,
    ) -> Result<Arc<Self>, String> {
        let endpoint = settings.otlp_endpoint.as_ref();
        let exporter = endpoint.map(|endpoint| exporter(settings, endpoint)).transpose()?;
        let (spans, queue) = mpsc::channel(QUEUE);
        let counters = Arc::new(Counters::default());
        let batches = exporter.map(|exporter| {
            let (batches, waiting) = mpsc::channel(WAITING_BATCHES);
            tokio::spawn(send(waiting, exporter, Arc::clone(&counters)));
            batches
        });
        tokio::spawn(keep_and_pass_on(queue, kept, batches, Arc::clone(&counters)));
        let version = env!("CARGO_PKG_VERSION");
        let scope = InstrumentationScope::builder("portolan").with_version(version).build();
        Ok(Arc::new(Self { spans, scope, counters }))
    }

    pub(crate) fn add(&self, span: Box<Lasting>) {
        if self.spans.try_send(Queued::Span(span)).is_err() {
            self.counters.dropped.fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn counts(&self) -> SpanCounts {
        let Counters { exported, dropped, failed } = &*self.counters;
        SpanCounts {
            exported: exported.load(Relaxed),
            dropped: dropped.load(Relaxed),
            failed: failed.load(Relaxed),
        }
    }

    /// Sends all spans that have finished, for at most this time.
    pub(crate) async fn flush(&self, limit: Duration) {
        let flush = async {
            let (reply, flushed) = oneshot::channel();
            self.spans.send(Queued::Flush(reply)).await.ok()?;
            flushed.await.ok()
        };
        let flushed = tokio::time::timeout(limit, flush).await;
        if flushed.is_err() {
            tracing::warn!("the collector is too slow: the last spans are not sent");
        }
    }
}

/// Spans that are sent together, and those who wait until they are sent.
struct Batch {
    spans: Vec<SpanData>,
    waiting: Vec<oneshot::Sender<()>>,
}

/// Keeps spans until the queue is closed, and passes them on in batches if there is a collector. Spans are kept also
/// while the collector hangs: a batch for which there is no room is dropped and counted.
async fn keep_and_pass_on(
    mut queue: mpsc::Receiver<Queued>,
    kept: Arc<KeptTraces>,
    batches: Option<mpsc::Sender<Batch>>,
    counters: Arc<Counters>,
) {
    while let Some(first) = queue.recv().await {
        let mut batch = Batch { spans: Vec::new(), waiting: Vec::new() };
        let deadline = Instant::now() + DELAY;
        let mut next = Some(first);
        while let Some(queued) = next.take() {
            match queued {
                Queued::Span(span) => {
                    kept.add(&span.data);
                    if batches.is_some() {
                        batch.spans.push(span.data);
                    }
                }
                Queued::Flush(reply) => batch.waiting.push(reply),
            }
            if batch.spans.len() < BATCH && batch.waiting.is_empty() {
                next = timeout_at(deadline, queue.recv()).await.ok().flatten();
            }
        }
        let Some(batches) = &batches else { continue };
        let count = batch.spans.len() as u64;
        let passed = match batch.waiting.is_empty() {
            true => batches.try_send(batch).is_ok(),
            // A flush has a time-out of its own.
            false => batches.send(batch).await.is_ok(),
        };
        if !passed {
            counters.dropped.fetch_add(count, Relaxed);
        }
    }
}

/// Sends batches until there are no more.
async fn send(mut batches: mpsc::Receiver<Batch>, exporter: SpanExporter, counters: Arc<Counters>) {
    let mut is_failing = false;
    while let Some(Batch { spans, waiting }) = batches.recv().await {
        let count = spans.len() as u64;
        // The exporter tries again for as long as the collector asks it to.
        match exporter.export(spans).await {
            Ok(()) => {
                counters.exported.fetch_add(count, Relaxed);
                if is_failing {
                    tracing::info!("spans reach the collector again");
                }
                is_failing = false;
            }
            Err(error) => {
                counters.failed.fetch_add(count, Relaxed);
                if !is_failing {
                    tracing::warn!(%error, "spans do not reach the collector of telemetry.otlp_endpoint");
                }
                is_failing = true;
            }
        }
        for reply in waiting {
            // An error means that nobody waits any longer.
            let _sent = reply.send(());
        }
    }
}

fn exporter(settings: &TelemetrySettings, endpoint: &str) -> Result<SpanExporter, String> {
    let headers = match &settings.headers_file {
        Some(file) => read_headers(file)?,
        None => HashMap::new(),
    };
    let client = Client::new().map_err(|error| error.to_string())?;
    let endpoint = match endpoint.trim_end_matches('/') {
        whole if whole.ends_with("/v1/traces") => whole.to_owned(),
        base => format!("{base}/v1/traces"),
    };
    let mut exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        .with_headers(headers)
        .with_endpoint(endpoint)
        .build()
        .map_err(|error| error.to_string())?;
    // With the attributes of OTEL_RESOURCE_ATTRIBUTES.
    let resource = Resource::builder()
        .with_service_name(settings.service_name.clone())
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    exporter.set_resource(&resource);
    Ok(exporter)
}

/// Reads headers of a file. No error names a value, which may be secret.
fn read_headers(file: &Path) -> Result<HashMap<String, String>, String> {
    let fault = |reason: &str| format!("telemetry.headers_file {}: {reason}", file.display());
    let size = std::fs::metadata(file).map_err(|error| fault(&error.to_string()))?.len();
    if size > MAX_HEADERS_BYTES {
        return Err(fault("it has more than 64 KiB"));
    }
    let text = std::fs::read_to_string(file).map_err(|error| fault(&error.to_string()))?;
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let header = |line: &str| {
        let (name, value) =
            line.split_once('=').map(|(name, value)| (name.trim(), value.trim()))?;
        let is_usable =
            http::HeaderName::try_from(name).is_ok() && http::HeaderValue::try_from(value).is_ok();
        is_usable.then(|| (name.to_owned(), value.to_owned()))
    };
    let parsed = lines.map(|(number, line)| {
        header(line).ok_or_else(|| fault(&format!("line {number} is not name=value")))
    });
    parsed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_lines_of_a_file_and_no_fault_shows_them() {
        let file = std::env::temp_dir().join(format!("portolan-headers-{}", std::process::id()));
        std::fs::write(
            &file,
            "# of the collector\n\nauthorization = Bearer hunter2\nx-scope=a=b\n",
        )
        .unwrap();
        let headers = read_headers(&file).unwrap();
        assert_eq!(headers["authorization"], "Bearer hunter2");
        assert_eq!((headers.len(), &*headers["x-scope"]), (2, "a=b"));
        std::fs::write(&file, "x-scope=a\nhunter2\n").unwrap();
        let fault = read_headers(&file).unwrap_err();
        assert!(fault.contains("line 2") && !fault.contains("hunter2"), "{fault}");
        std::fs::remove_file(&file).unwrap();
        assert!(read_headers(&file).unwrap_err().contains("telemetry.headers_file"));
    }
}
