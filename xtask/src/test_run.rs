//! The tests, and a second run of the few that fail.
//!
//! Black-box tests run real processes, databases and browsers with real clocks. On a busy machine one of a thousand
//! misses a deadline. A few that fail are run once more without any other test: a defect fails again, and a test that
//! passes is named.

use crate::run::{cargo_command, print_progress, workspace};
use anyhow::{Context as _, Result, bail, ensure};
use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

/// The maximum number of failed tests that are run once more. More failures have a common cause.
const RERUN: usize = 6;

/// The tests of one run by their outcome, read from the printed lines.
#[derive(Debug, Default, PartialEq)]
struct Outcomes {
    failed: Vec<String>,
    /// The test programs that began.
    begun: usize,
    /// The test programs that printed a result, so did not crash.
    ended: usize,
    passed: usize,
}

impl Outcomes {
    fn add(&mut self, line: &str) {
        if line.starts_with("running ") && line.trim_end_matches('s').ends_with(" test") {
            self.begun += 1;
        } else if line.starts_with("test result: ") {
            self.ended += 1;
        } else if let Some(test) = line.strip_prefix("test ") {
            if let Some(name) = test.strip_suffix(" ... FAILED") {
                self.failed.push(name.to_owned());
            } else if test.ends_with(" ... ok") {
                self.passed += 1;
            }
        }
    }
}

/// Runs the tests of the workspace, which `prepare` configures. Black-box tests that fail are run once more if they
/// are few; an error if one fails again, if another test fails, or if a test program crashes.
pub(crate) fn run(prepare: impl Fn(&mut Command)) -> Result<()> {
    let mut all = cargo_command(&["test", "--workspace", "--no-fail-fast"]);
    prepare(&mut all);
    let (succeeded, outcomes) = observe(&mut all)?;
    if succeeded {
        return Ok(());
    }
    let failed = outcomes.failed.len();
    ensure!(outcomes.begun == outcomes.ended, "a test program crashed");
    ensure!((1..=RERUN).contains(&failed), "{failed} tests failed");

    print_progress(&format!("running the {failed} failed tests once more"));
    let mut again = cargo_command(&["test", "--workspace", "--test", "black_box", "--", "--exact"]);
    prepare(again.args(["--test-threads", "1"]).args(&outcomes.failed));
    let (succeeded, repeated) = observe(&mut again)?;
    if !succeeded || repeated.passed != failed {
        bail!("failed: {}", outcomes.failed.join(", "));
    }
    print_progress(&format!("passed in a second run alone: {}", outcomes.failed.join(", ")));
    Ok(())
}

/// Runs the command and prints its output. Returns whether it succeeded, and the outcomes it printed.
#[expect(clippy::print_stdout, reason = "the output of the tests is passed on")]
fn observe(command: &mut Command) -> Result<(bool, Outcomes)> {
    let mut child = command.current_dir(workspace()).stdout(Stdio::piped()).spawn()?;
    let mut outcomes = Outcomes::default();
    for line in BufReader::new(child.stdout.take().context("no output")?).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        outcomes.add(&line);
    }
    Ok((child.wait()?.success(), outcomes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(printed: &str) -> Outcomes {
        let mut outcomes = Outcomes::default();
        printed.lines().for_each(|line| outcomes.add(line));
        outcomes
    }

    #[test]
    fn outcomes_are_read_from_the_output_of_several_programs() {
        let printed = "
running 3 tests
test cases::a::is_well ... ok
test cases::a::is_not_run ... ignored
test cases::b::fails has been running for over 60 seconds
test cases::b::fails ... FAILED

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s

running 1 test
test sdk/rust/src/lib.rs - (line 7) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
";
        let failed = vec!["cases::b::fails".to_owned()];
        assert_eq!(outcomes(printed), Outcomes { failed, begun: 2, ended: 2, passed: 2 });
    }

    #[test]
    fn a_program_that_crashes_has_begun_and_not_ended() {
        let crashed = outcomes("running 2 tests\ntest cases::a::is_well ... ok\n");
        assert_eq!((crashed.begun, crashed.ended), (1, 0));
    }
}
