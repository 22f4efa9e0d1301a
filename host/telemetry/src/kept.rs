//! The latest recorded traces, kept in memory for the operator.

use crate::{
    kept_trace::{KeptSpan, KeptTrace},
    report::{TraceReport, TraceSummary, report, summary},
};
use opentelemetry::trace::TraceId;
use opentelemetry_sdk::trace::SpanData;
use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The maximum number of spans of a trace. Later ones are counted only.
const MAX_SPANS: usize = 128;

/// The latest traces: as many as are to be kept, and half as many failed and slow ones that came before them.
#[derive(Debug)]
pub(crate) struct KeptTraces {
    capacity: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    traces: HashMap<TraceId, KeptTrace>,
    /// The ids in the order of their first spans.
    latest: VecDeque<TraceId>,
    /// Failed and slow traces that are no longer among the latest.
    notable: VecDeque<TraceId>,
}

impl KeptTraces {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, kept: Mutex::default() }
    }

    /// Adds a span that has ended.
    pub(crate) fn add(&self, data: &SpanData) {
        if self.capacity == 0 {
            return;
        }
        let id = data.span_context.trace_id();
        let mut kept = self.kept();
        if !kept.traces.contains_key(&id) {
            kept.make_room(self.capacity);
            kept.latest.push_back(id);
        }
        let trace = kept.traces.entry(id).or_default();
        match trace.spans.len() < MAX_SPANS {
            true => trace.spans.push(KeptSpan::of(data)),
            false => trace.left_out += 1,
        }
    }

    /// Returns the kept traces, the latest first.
    pub(crate) fn list(&self) -> Vec<TraceSummary> {
        let kept = self.kept();
        let ids = kept.notable.iter().chain(&kept.latest).rev();
        ids.filter_map(|id| Some(summary(*id, kept.traces.get(id)?))).collect()
    }

    /// Returns a kept trace by its id, or by the id of one of its requests.
    pub(crate) fn find(&self, id: &str) -> Option<TraceReport> {
        let kept = self.kept();
        let by_id = TraceId::from_hex(id).ok().filter(|id| kept.traces.contains_key(id));
        let id = by_id.or_else(|| {
            let mut traces = kept.traces.iter();
            traces.find(|(_, trace)| trace.has_request(id)).map(|(id, _)| *id)
        })?;
        Some(report(id, kept.traces.get(&id)?))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Removes the oldest of the latest traces if there are as many as are kept.
    fn make_room(&mut self, capacity: usize) {
        while self.latest.len() >= capacity {
            let Some(oldest) = self.pop(|kept| &mut kept.latest) else { return };
            if self.traces.get(&oldest).is_some_and(KeptTrace::is_notable) {
                self.notable.push_back(oldest);
            } else {
                self.traces.remove(&oldest);
            }
        }
        while self.notable.len() > capacity / 2 {
            let Some(oldest) = self.pop(|kept| &mut kept.notable) else { return };
            self.traces.remove(&oldest);
        }
    }

    /// Removes the oldest trace of a queue; if callers began at least half of them, the oldest of those, so that no
    /// caller displaces what is recorded of the others.
    fn pop(&mut self, queue: impl Fn(&mut Self) -> &mut VecDeque<TraceId>) -> Option<TraceId> {
        let mut ids = std::mem::take(queue(self));
        let is_of_caller = |id: &TraceId| self.traces.get(id).is_some_and(KeptTrace::is_of_caller);
        let of_callers = ids.iter().filter(|id| is_of_caller(id)).count();
        let place = match of_callers * 2 >= ids.len() {
            true => ids.iter().position(is_of_caller),
            false => None,
        };
        let oldest = ids.remove(place.unwrap_or(0));
        *queue(self) = ids;
        oldest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opentelemetry::{
        InstrumentationScope,
        trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceState},
    };
    use opentelemetry_sdk::trace::{SpanEvents, SpanLinks};
    use std::time::{Duration, SystemTime};

    fn span(trace: u128, id: u64, parent: u64, status: Status) -> SpanData {
        let context = SpanContext::new(
            TraceId::from_bytes(trace.to_be_bytes()),
            SpanId::from_bytes(id.to_be_bytes()),
            TraceFlags::SAMPLED,
            false,
            TraceState::NONE,
        );
        let begun = SystemTime::UNIX_EPOCH + Duration::from_millis(id);
        SpanData {
            span_context: context,
            parent_span_id: SpanId::from_bytes(parent.to_be_bytes()),
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: format!("span {id}").into(),
            start_time: begun,
            end_time: begun + Duration::from_micros(1_500),
            attributes: Vec::new(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status,
            instrumentation_scope: InstrumentationScope::builder("test").build(),
        }
    }

    fn name(trace: u128) -> String {
        format!("{trace:032x}")
    }

    #[test]
    fn the_latest_are_kept_and_failed_ones_longer() {
        let kept = KeptTraces::new(4);
        for trace in 1..=20 {
            let status = if trace % 5 == 0 { Status::error("") } else { Status::Unset };
            kept.add(&span(trace, 1, 0, status));
        }
        let ids: Vec<_> = kept.list().into_iter().map(|trace| trace.trace_id).collect();
        // 20 is among the latest four. Of the failed ones before them, half as many are kept.
        assert_eq!(ids, [20, 19, 18, 17, 15, 10].map(name));
        assert!(kept.find(&name(5)).is_none() && kept.find(&name(10)).is_some());
    }

    #[test]
    fn callers_displace_no_more_than_half_of_the_traces() {
        let kept = KeptTraces::new(4);
        kept.add(&span(1, 1, 0, Status::Unset));
        kept.add(&span(2, 1, 0, Status::error("")));
        for trace in 100..200 {
            let of_caller =
                SpanData { parent_span_is_remote: true, ..span(trace, 1, 900, Status::error("")) };
            kept.add(&of_caller);
        }
        assert!(kept.find(&name(1)).is_some() && kept.find(&name(2)).is_some());
        assert!(kept.find(&name(199)).is_some() && kept.list().len() <= 6);
    }

    #[test]
    fn spans_are_a_tree_in_order_and_bounded() {
        let kept = KeptTraces::new(1);
        // A span ends before the one around it.
        for (id, parent) in [(4, 3), (3, 1), (2, 1), (1, 900)] {
            kept.add(&span(7, id, parent, Status::Unset));
        }
        let found = kept.find(&name(7)).unwrap();
        let tree: Vec<_> = found.tree.iter().map(|span| (span.name.as_str(), span.depth)).collect();
        assert_eq!(tree, [("span 1", 0), ("span 2", 1), ("span 3", 1), ("span 4", 2)]);
        assert_eq!((found.tree[3].began_ms, found.tree[3].duration_ms), (3.0, 1.5));
        assert_eq!((found.summary.spans, found.summary.duration_ms), (4, 4.5));
        for id in 10..1_000 {
            kept.add(&span(7, id, 1, Status::Unset));
        }
        let found = kept.find(&name(7)).unwrap();
        assert_eq!((found.tree.len(), found.left_out), (MAX_SPANS, 994 - MAX_SPANS));
    }

    #[test]
    fn spans_that_name_each_other_as_parent_end_the_tree() {
        let kept = KeptTraces::new(1);
        for (id, parent) in [(1, 0), (2, 2), (3, 4), (4, 3)] {
            kept.add(&span(7, id, parent, Status::Unset));
        }
        assert_eq!(kept.find(&name(7)).unwrap().tree.len(), 1);
    }
}
