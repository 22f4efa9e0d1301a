//! A place in a trace (W3C Trace Context, level 2).

use opentelemetry::trace::{SpanId, TraceFlags, TraceId};
use std::fmt;

/// The length of a `traceparent` of version 00.
const LENGTH: usize = 55;
/// The flags that are passed on: sampled, and that the trace's id is random.
const KNOWN_FLAGS: u8 = 0b11;
/// The end of a stored text whose receivers are the caller's own.
const OWN: &str = "-own";

/// A span in a trace, of this host or of a caller. Its text is that of the header `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    pub(crate) trace_id: TraceId,
    /// Invalid (zero) before the first span of a trace that begins at this host.
    pub(crate) span_id: SpanId,
    pub(crate) flags: TraceFlags,
    /// Whether this host records the trace.
    pub(crate) is_recorded: bool,
    /// Whether the span is that of another process.
    pub(crate) is_remote: bool,
}

impl TraceContext {
    /// Parses the value of a header `traceparent`; `None` if it is not one, which is then ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let (version, rest) = text.split_at_checked(2)?;
        let is_hex =
            |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        // Later versions may have more parts.
        let has_length = match version {
            "ff" => false,
            "00" => text.len() == LENGTH,
            _ => text.len() == LENGTH || text.as_bytes().get(LENGTH) == Some(&b'-'),
        };
        if !has_length || !is_hex(version) {
            return None;
        }
        let mut parts = rest.split('-').skip(1);
        let mut part = |length| parts.next().filter(|part| part.len() == length && is_hex(part));
        let (trace, span, flags) = (part(32)?, part(16)?, part(2)?);
        let trace_id = TraceId::from_hex(trace).ok().filter(|id| *id != TraceId::INVALID)?;
        let span_id = SpanId::from_hex(span).ok().filter(|id| *id != SpanId::INVALID)?;
        let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()? & KNOWN_FLAGS);
        Some(Self { trace_id, span_id, flags, is_recorded: false, is_remote: true })
    }

    /// Returns the beginning of a recorded trace with this id, which is random.
    pub(crate) fn begun(id: u128) -> Self {
        Self {
            trace_id: TraceId::from_bytes(id.to_be_bytes()),
            span_id: SpanId::INVALID,
            // Sampled, and the id is random.
            flags: TraceFlags::new(0b11),
            is_recorded: true,
            is_remote: false,
        }
    }

    /// Returns the text that is stored with what happens later in the trace. It has the decision of this host instead
    /// of its caller's, and says whether those who receive what is stored are the caller's own.
    pub fn stored(self, is_own: bool) -> String {
        let flags = self.flags.with_sampled(self.is_recorded);
        let own = if is_own { OWN } else { "" };
        format!("{}{own}", Self { flags, ..self })
    }

    /// Parses a stored text, and returns whether those who receive what is stored are the caller's own.
    pub(crate) fn parse_stored(text: &str) -> Option<(Self, bool)> {
        let (traceparent, is_own) = match text.strip_suffix(OWN) {
            Some(traceparent) => (traceparent, true),
            None => (text, false),
        };
        let stored = Self::parse(traceparent)?;
        Some((Self { is_recorded: stored.flags.is_sampled(), ..stored }, is_own))
    }

    /// Returns whether this host records the trace.
    pub fn is_recorded(&self) -> bool {
        self.is_recorded
    }

    /// Returns the trace's id, for logs and exemplars.
    pub fn trace_id(&self) -> impl fmt::Display + use<> {
        self.trace_id
    }

    /// Returns the span's id, for logs.
    pub fn span_id(&self) -> impl fmt::Display + use<> {
        self.span_id
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "00-{}-{}-{:02x}", self.trace_id, self.span_id, self.flags.to_u8())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_traceparent_is_written_as_it_was_read() {
        for text in [VALID, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02"] {
            assert_eq!(TraceContext::parse(text).unwrap().to_string(), text);
        }
        let later = format!("cc{}-what-comes", &VALID[2..]);
        assert_eq!(TraceContext::parse(&later).unwrap().to_string(), VALID);
        let unknown_flags = VALID.replace("-01", "-ff");
        let read = TraceContext::parse(&unknown_flags).unwrap();
        assert_eq!(read.to_string(), VALID.replace("-01", "-03"));
    }

    #[test]
    fn what_is_stored_has_the_decision_of_this_host() {
        let caller = TraceContext::parse(VALID).unwrap();
        for (is_recorded, is_own) in [(false, false), (false, true), (true, false), (true, true)] {
            let text = TraceContext { is_recorded, ..caller }.stored(is_own);
            let (stored, own) = TraceContext::parse_stored(&text).unwrap();
            assert_eq!((stored.is_recorded, own), (is_recorded, is_own), "{text}");
            assert_eq!(stored.flags.is_sampled(), is_recorded, "{text}");
        }
        assert_eq!(TraceContext::parse_stored("-own"), None);
    }

    #[test]
    fn what_is_no_traceparent_is_ignored() {
        for text in [
            String::new(),
            "00".to_owned(),
            "é".to_owned(),
            VALID.to_uppercase(),
            VALID[..54].to_owned(),
            format!("{VALID}-more"),
            VALID.replacen("00-", "ff-", 1),
            VALID.replace("b7ad6b7169203331", "0000000000000000"),
            VALID.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
            VALID.replace("0af7", "+af7"),
            VALID.replacen("00-", "0é", 1),
            format!("cc{}x", &VALID[2..]),
        ] {
            assert_eq!(TraceContext::parse(&text), None, "{text}");
        }
    }
}
