//! Spans of time between two instants, in milliseconds.

use portolan_sdk::prelude::*;

/// A span from `start` up to, but not including, `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// The state of a person's time, in the words of RFC 5545. Later variants override earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub(crate) enum FbType {
    /// The person is free.
    #[serde(rename = "FREE")]
    Free,
    /// There is an unconfirmed meeting.
    #[serde(rename = "BUSY-TENTATIVE")]
    Tentative,
    /// The time is outside of the person's availability.
    #[serde(rename = "BUSY-UNAVAILABLE")]
    Unavailable,
    /// There is a meeting or a block.
    #[serde(rename = "BUSY")]
    Busy,
}

impl Span {
    pub(crate) fn new(start: i64, end: i64) -> Self {
        Self { start, end }
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.start < other.end && self.end > other.start
    }

    /// Returns the intersection; `None` if it is empty.
    pub(crate) fn within(self, other: Self) -> Option<Self> {
        let both = Self::new(self.start.max(other.start), self.end.min(other.end));
        (both.start < both.end).then_some(both)
    }

    pub(crate) fn widened(self, by: i64) -> Self {
        Self::new(self.start.saturating_sub(by), self.end.saturating_add(by))
    }
}

/// Sorts the spans, and joins those that overlap or touch.
pub(crate) fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// Returns the parts of the whole that are outside of these merged spans.
pub(crate) fn gaps(whole: Span, merged: &[Span]) -> Vec<Span> {
    let mut left = Vec::new();
    let mut start = whole.start;
    for span in merged.iter().filter(|span| span.overlaps(whole)) {
        if span.start > start {
            left.push(Span::new(start, span.start));
        }
        start = start.max(span.end);
    }
    if start < whole.end {
        left.push(Span::new(start, whole.end));
    }
    left
}

/// Whether a span overlaps one of these merged spans.
pub(crate) fn overlaps_any(merged: &[Span], span: Span) -> bool {
    let after = merged.partition_point(|known| known.end <= span.start);
    merged.get(after).is_some_and(|known| known.overlaps(span))
}

/// Splits the whole into spans, each with the type that overrides all others there.
pub(crate) fn layered(whole: Span, layers: &[(FbType, Vec<Span>)]) -> Vec<(Span, FbType)> {
    let mut edges = vec![whole.start, whole.end];
    for span in layers.iter().flat_map(|(_, spans)| spans) {
        edges.extend(
            [span.start, span.end].iter().filter(|at| **at > whole.start && **at < whole.end),
        );
    }
    edges.sort_unstable();
    edges.dedup();
    let mut pieces: Vec<(Span, FbType)> = Vec::new();
    for (start, end) in edges.iter().zip(edges.iter().skip(1)) {
        let piece = Span::new(*start, *end);
        let covering = layers.iter().filter(|(_, spans)| overlaps_any(spans, piece));
        let kind = covering.map(|(kind, _)| *kind).max().unwrap_or(FbType::Free);
        match pieces.last_mut() {
            Some((last, known)) if *known == kind => last.end = piece.end,
            _ => pieces.push((piece, kind)),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        let span = (0..60_i64, 1..12_i64).prop_map(|(at, length)| Span::new(at, at + length));
        proptest::collection::vec(span, 0..8)
    }

    fn covers(spans: &[Span], at: i64) -> bool {
        spans.iter().any(|span| span.start <= at && at < span.end)
    }

    proptest! {
        #[test]
        fn each_instant_has_the_overriding_type(
            busy in spans(), away in spans(), perhaps in spans(), from in 0..30_i64, length in 1..40_i64,
        ) {
            let whole = Span::new(from, from + length);
            let all = [busy.clone(), away.clone(), perhaps.clone()].map(merged);
            for (list, merged) in [&busy, &away, &perhaps].into_iter().zip(&all) {
                prop_assert!(merged.windows(2).all(|two| two[0].end < two[1].start));
                let left = gaps(whole, merged);
                for at in 0..80 {
                    prop_assert_eq!(covers(list, at), covers(merged, at));
                    prop_assert_eq!(overlaps_any(merged, Span::new(at, at + 1)), covers(list, at));
                    let is_left = covers(&[whole], at) && !covers(list, at);
                    prop_assert_eq!(covers(&left, at), is_left);
                }
            }
            let [b, u, t] = all;
            let layers = [(FbType::Busy, b), (FbType::Unavailable, u), (FbType::Tentative, t)];
            let pieces = layered(whole, &layers);
            prop_assert_eq!(pieces.first().unwrap().0.start, whole.start);
            prop_assert_eq!(pieces.last().unwrap().0.end, whole.end);
            for two in pieces.windows(2) {
                prop_assert!(two[0].0.end == two[1].0.start && two[0].1 != two[1].1);
            }
            for (piece, kind) in pieces {
                for at in piece.start..piece.end {
                    let expected = match at {
                        at if covers(&busy, at) => FbType::Busy,
                        at if covers(&away, at) => FbType::Unavailable,
                        at if covers(&perhaps, at) => FbType::Tentative,
                        _ => FbType::Free,
                    };
                    prop_assert_eq!(kind, expected);
                }
            }
        }
    }
}
