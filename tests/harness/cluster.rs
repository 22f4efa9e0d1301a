//! Three databases of Patroni behind HAProxy, of which one is the primary: what `packaging/ha/try-ha.sh` runs.

use std::{
    io::{BufRead as _, BufReader, Lines, Write as _},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

/// A running cluster. It ends when this is dropped, or the test process ends.
pub struct Cluster {
    /// The URL of a database behind HAProxy.
    pub url: String,
    script: Child,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The script stops everything at the end of its input.
        drop(self.script.stdin.take());
        let _status = self.script.wait();
    }
}

/// Returns the script that runs a cluster.
pub fn script() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/ha/try-ha.sh"))
}

impl Cluster {
    /// Starts a cluster, and waits until it has a primary that two databases follow.
    pub fn start() -> Self {
        let mut script = Command::new("sh")
            .arg(script())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut answers = BufReader::new(script.stdout.take().unwrap()).lines();
        let url = next(&mut answers);
        assert!(url.starts_with("postgres://"), "{url}");
        Self { url, script, answers }
    }

    /// Kills the primary and its Patroni; returns its name.
    pub fn kill_primary(&mut self) -> String {
        self.order("kill")
    }

    /// Starts what was killed last, and waits until a primary has two followers again.
    pub fn start_again(&mut self) {
        self.order("start");
        assert_eq!(self.order("whole"), "whole");
    }

    /// Returns the name of the primary.
    pub fn primary(&mut self) -> String {
        self.order("primary")
    }

    /// Sends an order to the script, and returns its answer.
    fn order(&mut self, order: &str) -> String {
        let input = self.script.stdin.as_mut().unwrap();
        input.write_all(format!("{order}\n").as_bytes()).unwrap();
        next(&mut self.answers)
    }
}

fn next(answers: &mut Lines<BufReader<ChildStdout>>) -> String {
    let answer = answers.next();
    answer.unwrap_or_else(|| panic!("the cluster has failed; its programs are Debian's")).unwrap()
}
