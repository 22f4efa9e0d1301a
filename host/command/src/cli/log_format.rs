//! The format of the lines of the log.

use crate::config::LogFormat;
use portolan_vocabulary::one_line;
use serde_json::{Map, Value, json};
use std::{fmt, io::IsTerminal as _};
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    EnvFilter,
    field::MakeExt as _,
    fmt::{
        FmtContext, FormatEvent, FormatFields, FormattedFields,
        format::{JsonFields, Writer, debug_fn},
        time::{FormatTime as _, SystemTime},
    },
    registry::LookupSpan,
};

/// The fields of a line that are not in its object `fields`: what the line is about, by OpenTelemetry's names.
const OF_LINE: [&str; 3] = ["request_id", "trace_id", "span_id"];

/// Sets another filter of the log.
pub(super) type SetFilter = Box<dyn Fn(EnvFilter) -> anyhow::Result<()>>;

/// Writes the log to standard error, from now on. Returns the function that sets another filter.
pub(super) fn start(format: LogFormat, filter: EnvFilter) -> SetFilter {
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // A failure to write to standard error would itself be logged to standard error, and panic.
        .log_internal_errors(false);
    match format {
        LogFormat::Text => {
            let subscriber =
                subscriber.fmt_fields(escaped()).with_ansi(std::io::stderr().is_terminal());
            let subscriber = subscriber.with_filter_reloading();
            let filter = subscriber.reload_handle();
            subscriber.init();
            Box::new(move |next| Ok(filter.reload(next)?))
        }
        LogFormat::Json => {
            let subscriber = subscriber.fmt_fields(JsonFields::new()).event_format(JsonLine);
            let subscriber = subscriber.with_filter_reloading();
            let filter = subscriber.reload_handle();
            subscriber.init();
            Box::new(move |next| Ok(filter.reload(next)?))
        }
    }
}

/// Returns a format of fields that escapes control characters: what others wrote must not look like a line of
/// the log, or change the terminal.
fn escaped() -> impl for<'w> FormatFields<'w> + Send + Sync + 'static {
    debug_fn(|writer, field, value| {
        let text = format!("{value:?}");
        let text = one_line(&text, text.len());
        match field.name() {
            "message" => write!(writer, "{text}"),
            name => write!(writer, "{name}={text}"),
        }
    })
    .delimited(" ")
}

/// A line that is a JSON object: `timestamp`, `level`, `target`, `message`, `fields`, and the ids of the request and of
/// its trace, if it has them.
#[derive(Debug)]
struct JsonLine;

impl<S> FormatEvent<S, JsonFields> for JsonLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, JsonFields>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut timestamp = String::new();
        SystemTime.format_time(&mut Writer::new(&mut timestamp))?;
        let mut fields = Fields::default();
        event.record(&mut fields);
        let Fields(mut fields) = fields;
        let mut line = Map::new();
        line.insert("timestamp".to_owned(), timestamp.into());
        line.insert("level".to_owned(), event.metadata().level().as_str().into());
        line.insert("target".to_owned(), event.metadata().target().into());
        line.insert("message".to_owned(), fields.remove("message").unwrap_or_default());
        if let Some(request) = fields.remove("request") {
            line.insert("request_id".to_owned(), request);
        }
        for span in context.event_scope().into_iter().flatten() {
            let extensions = span.extensions();
            let written = extensions.get::<FormattedFields<JsonFields>>();
            let parsed = written.and_then(|written| serde_json::from_str(&written.fields).ok());
            let of_span: Map<String, Value> = parsed.unwrap_or_default();
            // The inner span comes first.
            for (name, value) in of_span {
                let object = if OF_LINE.contains(&&*name) { &mut line } else { &mut fields };
                object.entry(name).or_insert(value);
            }
        }
        if !fields.is_empty() {
            line.insert("fields".to_owned(), Value::Object(fields));
        }
        writeln!(writer, "{}", Value::Object(line))
    }
}

/// The fields of an event.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn add(&mut self, field: &Field, value: Value) {
        self.0.insert(field.name().to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, json!(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, json!(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, json!(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, json!(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, json!(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, json!(format!("{value:?}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_names_its_request_and_its_trace() {
        let written = Written::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .fmt_fields(JsonFields::new())
            .event_format(JsonLine)
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let (request_id, trace_id) = ("req_1", "0af7651916cd43dd8448eb211c80319c");
            let span = tracing::info_span!("request", request_id, trace_id, span_id = "b7ad");
            span.in_scope(|| tracing::warn!(count = 3, "a \"bad\"\nline"));
            tracing::info!(request = "req_2", level = "mine", "without a trace");
        });
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [first, second] = lines.as_slice() else { panic!("{text}") };
        assert_eq!(first["message"], "a \"bad\"\nline");
        assert_eq!((&first["level"], &first["fields"]["count"]), (&json!("WARN"), &json!(3)));
        assert_eq!(first["request_id"], "req_1");
        assert_eq!(first["trace_id"], "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(first["span_id"], "b7ad");
        assert!(first["timestamp"].as_str().unwrap().ends_with('Z'), "{first}");
        assert_eq!((&second["request_id"], &second["level"]), (&json!("req_2"), &json!("INFO")));
        assert_eq!(
            (&second["trace_id"], &second["fields"]["level"]),
            (&Value::Null, &json!("mine"))
        );
    }
}
