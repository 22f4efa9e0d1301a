//! The sandbox by itself: instantiate, call, drop, in this process and without HTTP.

use crate::{
    Effort,
    host::BenchHost,
    report::{Report, median, spread},
    throughput::ORDER,
};
use anyhow::anyhow;
use portolan_sandbox::{
    CallContext, GuestAnswer, HostServices, NestedCall, NestedCallFuture, Tape, Work,
};
use portolan_store::Unit;
use portolan_vocabulary::{Caller, Timestamp};
use std::{hint::black_box, sync::Arc, time::Instant};
use template::{Order, add_up};

const CALLS: u32 = 2000;

pub(crate) async fn measure(
    host: &BenchHost,
    effort: &Effort,
    report: &mut Report,
) -> anyhow::Result<()> {
    let order: serde_json::Value = serde_json::from_str(ORDER)?;
    let mut fields = order.as_object().cloned().unwrap_or_default();
    fields.shift_remove("action");
    let order = serde_json::Value::Object(fields).to_string();
    let guests = [
        ("native function", None),
        ("fresh sandbox", Some(("template_000", "alpha", order.clone()))),
        ("fresh sandbox, smallest guest", Some(("greeter", "people", "{}".to_owned()))),
        ("fresh sandbox with WASI", Some(("wasi_probe", "look", "{}".to_owned()))),
    ];
    let mut times: Vec<Vec<f64>> = guests.iter().map(|_| Vec::new()).collect();
    for _ in 0..effort.rounds {
        for ((_, guest), times) in guests.iter().zip(&mut times) {
            let started = Instant::now();
            match guest {
                None => native(&order)?,
                Some((id, action, input)) => sandboxed(host, id, action, input, CALLS).await?,
            }
            times.push(started.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS));
        }
    }
    for ((name, _), times) in guests.iter().zip(&times) {
        report.add(format!("{name}: one call"), median(times), "us");
        report.compare_with("itself over the rounds", 1.0, Some(relative(times)));
    }
    Ok(())
}

fn relative(times: &[f64]) -> (f64, f64) {
    let middle = median(times);
    let (low, high) = spread(times);
    (low / middle, high / middle)
}

fn native(order: &str) -> anyhow::Result<()> {
    for _ in 0..CALLS {
        let order: Order = serde_json::from_str(black_box(order))?;
        black_box(serde_json::to_string(&add_up(order))?);
    }
    Ok(())
}

/// Makes a number of calls, one after the other, each in a sandbox of its own.
pub(crate) async fn sandboxed(
    host: &BenchHost,
    id: &str,
    action: &str,
    input: &str,
    calls: u32,
) -> anyhow::Result<()> {
    let host = &host.app.host;
    let snapshot = host.catalog.snapshot();
    let capability = snapshot.capabilities.get(id).ok_or_else(|| anyhow!("{id} is not loaded"))?;
    for _ in 0..calls {
        let platform = Arc::clone(&snapshot.platform);
        let context = CallContext::new(
            Caller::System { test_mode: false },
            Timestamp::now(),
            Arc::from("bench"),
            platform,
        );
        let work = Work {
            unit: Unit::new(host.store.clone(), context.now),
            collections: Arc::clone(capability.collections.of(false)),
            read_only: true,
            services: Arc::new(Alone),
        };
        let (prepared, context) = (&capability.prepared, Arc::new(context));
        let work = (work, Tape::Off);
        let call = host.sandbox.run(prepared, &capability.id, &context, (action, input), work);
        black_box(call.await.answer?);
    }
    Ok(())
}

/// Host services without events, timers and nested calls.
#[derive(Debug)]
struct Alone;

impl HostServices for Alone {
    fn check_event(&self, _: &str) -> Result<(), String> {
        Err("there are no events here".to_owned())
    }

    fn subscribers(&self, _: &str) -> Vec<(String, String)> {
        Vec::new()
    }

    fn check_timer(&self, _: &str, _: String) -> Result<String, String> {
        Err("there are no timers here".to_owned())
    }

    fn call(self: Arc<Self>, call: NestedCall) -> NestedCallFuture {
        let answer = GuestAnswer::Refused {
            code: "unknown_capability".to_owned(),
            message: String::new(),
            conflict: None,
            next: None,
            keep_writes: false,
        };
        Box::pin(async move { (answer, Some(call.work)) })
    }
}
