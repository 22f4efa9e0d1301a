//! The rows of the table of abuses, and how a group of them is tried.

use crate::{
    abuse::{
        cost::{Bound, Cost},
        honest::Neighbours,
        processor::CLIENT_THREADS,
        scene::Scene,
    },
    harness::{Host, Options, guests, options::GUESTS_BUILT},
};
use std::{
    io::Write as _,
    pin::Pin,
    process::{Command, Stdio},
    time::Instant,
};

/// Tries an abuse, checks what comes of it, and returns what it costs.
pub type Attack = for<'a> fn(&'a Scene<'a>) -> Pin<Box<dyn Future<Output = Cost> + 'a>>;

/// An abuse that an outsider can try.
pub struct Row {
    pub name: &'static str,
    /// The steps of the attacker.
    pub abuse: &'static str,
    /// The cost before it was limited, if that was measured.
    pub before: &'static str,
    /// The outcome.
    pub outcome: &'static str,
    pub bound: Bound,
    pub attack: Attack,
}

/// The rows that are tried one after the other on one host.
pub struct Group {
    /// The path of the test.
    pub test: &'static str,
    pub options: fn() -> Options,
    pub rows: &'static [Row],
}

/// The settings of a host in production, before every table.
pub const LIVE: &str = "rate_limits = \"on\"\ntest_mode = \"off\"\n";

/// Set for the process that a group has to itself.
const ALONE: &str = "PORTOLAN_ABUSE_ALONE";

/// The variables with which the time of processors is compared with its bound.
const COMPARES_PROCESSORS: [&str; 2] = ["PORTOLAN_TEST_FULL", "PORTOLAN_WRITE_REFERENCE"];

impl Group {
    /// Tries the rows of the group, in a process of its own: the time of its processors, less that of its
    /// clients, is the host's.
    pub fn run(&self, measured: impl FnOnce(&[(&'static str, Cost)])) {
        if std::env::var_os(ALONE).is_some() {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .thread_name(CLIENT_THREADS)
                .enable_all()
                .build()
                .unwrap();
            return measured(&runtime.block_on(self.attempt_all()));
        }
        guests();
        let mut test = Command::new(std::env::current_exe().unwrap());
        test.args([self.test, "--exact", "--nocapture", "--test-threads=1"]).env(ALONE, "1");
        test.env(GUESTS_BUILT, "1");
        let output = test.stdin(Stdio::null()).output().unwrap();
        let text =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        let text = text.concat();
        assert!(output.status.success(), "{text}");
        println!("{text}");
    }

    async fn attempt_all(&self) -> Vec<(&'static str, Cost)> {
        let host = Host::start((self.options)()).await;
        let (scene, neighbours) = (Scene::new(&host), Neighbours::new(&host).await);
        scene.wait_until_at_rest().await;
        // Other programs make processors slower, so their time is compared only where that is asked for.
        let with_processors =
            COMPARES_PROCESSORS.iter().any(|name| std::env::var_os(name).is_some());
        let attacks = async {
            let (mut costs, mut faults) = (Vec::new(), Vec::new());
            for row in self.rows {
                let started = Instant::now();
                print_now(row.name);
                let cost = (row.attack)(&scene).await;
                print_now(&format!("    {cost}; {:.1} s here", started.elapsed().as_secs_f64()));
                let above = row.bound.faults(&cost, with_processors).into_iter();
                faults.extend(above.map(|fault| format!("{}: {fault}", row.name)));
                costs.push((row.name, cost));
            }
            (costs, faults)
        };
        let (costs, faults) = tokio::select! {
            ended = attacks => ended,
            never = neighbours.live(!with_processors) => match never {},
        };
        assert!(faults.is_empty(), "above the bound:\n{}", faults.join("\n"));
        costs
    }
}

/// Prints at once, because `println!` is captured.
fn print_now(text: &str) {
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
}
