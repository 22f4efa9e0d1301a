//! All hostile components at once, beside all shipped ones: ordinary calls succeed, codes are sent,
//! both addresses answer, and the host still stops on its signal.

use crate::{
    cases::{hostile::TABLE, plugins::names},
    harness::{
        Agent, Host, Options, PATIENCE, Process,
        hostile::{Attack, Expected, Scene},
        person::messages,
    },
};
use serde_json::{Value, json};
use std::{
    io::Write as _,
    time::{Duration, Instant},
};
use tokio::{sync::watch, task::JoinSet};

/// Returns whether to run the long form, with every attacker and for longer:
/// `cargo xtask test --full`.
fn is_full() -> bool {
    std::env::var_os("PORTOLAN_TEST_FULL").is_some()
}

/// The attackers of the short form.
const SHORT_FORM: [&str; 7] = [
    "spins",
    "allocates",
    "recurses",
    "log_flood",
    "answer_breaks_schema",
    "many_reads",
    "timer_chain",
];
/// The number of concurrent calls of attackers.
const CONCURRENT_CALLS: usize = 56;
/// The least time from one call of an attacker to its next.
const PAUSE: Duration = Duration::from_millis(200);
/// A long time limit, so that ordinary calls succeed on a slow machine too. Otherwise the settings of production,
/// but for the rates and the run time, which the attacker would use up within seconds.
const CONFIGURATION: &str = "rate_limits = \"on\"\n[limits]\ncall_wall_time_ms = 20000\n\
    claimed_calls_per_minute = 1000000\nwrites_per_minute = 1000000\nclaimed_run_ms_per_hour = 1000000000\n\
    requests_per_minute = 1000000\n";
/// The number of agents that make ordinary calls.
const ORDINARY_AGENTS: usize = 4;

/// Prints at once; `println!` would be captured until the test fails.
fn print_now(text: &str) {
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_attackers_do_not_stop_ordinary_calls() {
    let names =
        if is_full() { names() } else { vec!["agent_credits".into(), "svc_phone_binding".into()] };
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let host = Process::start(Options::with(&names).configuration(CONFIGURATION));
    let attackers = load_attackers(&host).await;
    let others = claimed_agents(&host, ORDINARY_AGENTS).await;
    let time = Duration::from_secs(if is_full() { 10 } else { 2 });

    let alone = measure_ordinary_calls(&host, &others, time).await;
    let (stop, stopped) = watch::channel(false);
    let attack = call_attackers(&host, &attackers, stopped).await;
    let beside = measure_ordinary_calls(&host, &others, time).await;
    assert_code_is_sent(&host).await;
    for answered in [host.get("/v1/capabilities").await, host.operate("/healthz").await] {
        assert_eq!(answered.status, 200, "{}", answered.text);
    }
    let (alone, beside) = (Percentiles::of(alone), Percentiles::of(beside));
    print_now(&format!(
        "{} attackers; an ordinary call: alone {alone}; beside them {beside}; p99 {:.1} times",
        attackers.len(),
        beside.p99.as_secs_f64() / alone.p99.as_secs_f64()
    ));

    host.signal("TERM");
    let (status, _folder) = host.wait();
    assert!(status.success(), "{status}");
    stop.send_replace(true);
    let calls: usize = attack.join_all().await.into_iter().sum();
    print_now(&format!("{calls} calls of attackers were made"));
    assert!(calls > 0, "the attackers were called");
}

/// Drops the attackers in; returns the names of those that serve.
async fn load_attackers(host: &Host) -> Vec<&'static str> {
    let scene = Scene {
        witness_owner: "own_01JZX8Q4M2N6P7R8S9T0V1W2X3".to_owned(),
        stranger_agent: "agt_01JZX8Q4M2N6P7R8S9T0V1W2X3".to_owned(),
        sealed: Vec::new(),
        folder: host.folder.path().to_owned(),
    };
    let all = TABLE.iter().flat_map(|(_, groups)| groups.iter().copied().flatten());
    let chosen = |attack: &&Attack| is_full() || SHORT_FORM.contains(&attack.name);
    let attacks: Vec<&Attack> = all.filter(chosen).collect();
    for attack in &attacks {
        host.drop_in(&format!("{}.wasm", attack.name), &(attack.component)(&scene));
    }
    let serves = |attack: &&&Attack| !matches!(attack.expected, Expected::Refused(_));
    let serving: Vec<_> = attacks.iter().filter(serves).map(|attack| attack.name).collect();
    for name in &serving {
        host.wait_for_version(name, "1.0.0").await;
    }
    serving
}

/// Registers agents of test mode, each claimed for a person of its own.
async fn claimed_agents(host: &Host, count: usize) -> Vec<Agent<'_>> {
    let mut agents = Vec::new();
    for _ in 0..count {
        let agent = host.test_agent().await;
        agent.claim("+14155550100").await;
        agents.push(agent);
    }
    agents
}

/// Makes ordinary calls for this time, which must all succeed, and returns how long each took.
async fn measure_ordinary_calls(
    host: &Host,
    agents: &[Agent<'_>],
    time: Duration,
) -> Vec<Duration> {
    let mut callers = JoinSet::new();
    for agent in agents {
        let (client, token) = (host.client.clone(), agent.token.clone());
        let url = format!("{}/v1/capabilities/agent_credits/call", host.url);
        let end = Instant::now() + time;
        callers.spawn(async move {
            let mut times = Vec::new();
            while Instant::now() < end {
                let started = Instant::now();
                let request = client.post(&url).bearer_auth(&token);
                let reply = request.json(&json!({ "action": "balance" })).send().await.unwrap();
                let (status, text) = (reply.status(), reply.text().await.unwrap());
                assert_eq!(status, 200, "{text}");
                times.push(started.elapsed());
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            times
        });
    }
    callers.join_all().await.into_iter().flatten().collect()
}

/// Starts tasks that call the attackers until `stopped` is true or the host has stopped. Each task
/// returns the number of its calls.
async fn call_attackers(
    host: &Host,
    attackers: &[&'static str],
    stopped: watch::Receiver<bool>,
) -> JoinSet<usize> {
    let attacker = claimed_agents(host, 1).await.remove(0);
    let mut tasks = JoinSet::new();
    for name in attackers {
        let url = format!("{}/v1/capabilities/{name}/call", host.url);
        for _ in 0..CONCURRENT_CALLS.div_ceil(attackers.len()) {
            let (client, token) = (host.client.clone(), attacker.token.clone());
            let (url, stopped) = (url.clone(), stopped.clone());
            tasks.spawn(async move {
                let mut calls = 0;
                while !*stopped.borrow() {
                    let request = client.post(&url).bearer_auth(&token);
                    let sent = request.json(&json!({ "action": "act" })).send().await;
                    let Ok(reply) = sent else { break };
                    calls += usize::from(reply.status() != 429);
                    tokio::time::sleep(PAUSE).await;
                }
                calls
            });
        }
    }
    tasks
}

/// Asserts that the message with a code that a person asks for is sent.
async fn assert_code_is_sent(host: &Host) {
    let started = Instant::now();
    let bind = json!({ "action": "bind", "phone": "+14155550142" });
    let bound: Value = host.agent().await.result("svc.phone-binding", bind).await;
    assert_eq!(bound["state"], "code_sent");
    let sent = tokio::time::timeout(PATIENCE, messages(host, 1)).await;
    assert_eq!(sent.unwrap().len(), 1);
    print_now(&format!("a code left after {:?}", started.elapsed()));
}

/// The median and the 99th percentile.
struct Percentiles {
    p50: Duration,
    p99: Duration,
}

impl Percentiles {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        assert!(times.len() > 50, "only {} calls were made", times.len());
        Self { p50: times[times.len() / 2], p99: times[times.len() * 99 / 100] }
    }
}

impl std::fmt::Display for Percentiles {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "p50 {:.1?}, p99 {:.1?}", self.p50, self.p99)
    }
}
