//! How fields are written to the log.

use portolan_vocabulary::one_line;
use tracing_subscriber::{
    field::MakeExt as _,
    fmt::{FormatFields, format::debug_fn},
};

/// Returns a format of fields that escapes control characters: what others wrote must not look like a line of
/// the log, or change the terminal.
pub(super) fn escaped() -> impl for<'w> FormatFields<'w> + Send + Sync + 'static {
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
