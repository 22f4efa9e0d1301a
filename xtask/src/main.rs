//! The project's own commands: `cargo xtask serve | test | plugins | bench`.

mod clients;
mod debian;
mod demo_host;
mod deny;
#[cfg(test)]
mod dependencies;
mod fuzz;
mod guests;
mod lighthouse;
mod package;
mod packages;
mod peers;
mod postgres;
mod run;
mod sbom;
mod screenshots;
mod test_run;

use anyhow::Result;
use clap::{Parser, Subcommand};
use run::{cargo, cargo_command, print_progress};
use std::process;

/// The part of the benchmarks that is about quality, not about time.
const RELEVANCE: &str = "relevance";
/// The folders of `tests/corpora/matching`.
const LABELLED_SETS: [&str; 6] = ["main", "second", "third", "fourth", "held_out", "apart"];
/// The time for each fuzz target in the full form of the tests.
const FUZZ_SECONDS: u32 = 10;

#[derive(Parser)]
#[command(name = "cargo xtask", max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the capabilities and the host, and start the host
    Serve {
        /// Arguments for `portolan serve`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Run everything that must pass: format, lints, dependencies, unit tests, black-box tests
    Test {
        /// Also run the long form of tests, try the packages of `cargo xtask package`, and run the fuzz targets and
        /// benchmarks for a short time
        #[arg(long)]
        full: bool,
        /// Run only tests whose name contains this text, without format, lints and dependencies
        filter: Option<String>,
    },
    /// Build the capabilities that ship with the host into catalog/
    Plugins,
    /// Build the components that tests and benchmarks use, into the target folder
    Fixtures,
    /// Write docs/capabilities/ from the descriptors of the shipped capabilities
    Reference,
    /// Let a program without a model follow what the host tells it to the goals of tests/corpora/goals.json, over REST
    /// and over MCP, and print its calls and guesses
    AgentEval,
    /// Install the OAuth clients and the browser that tests use, into the target folder
    Clients,
    /// Install the compilers of tests/toolchains into the target folder
    Toolchains {
        /// Also install the toolchains that take minutes to build
        #[arg(long)]
        full: bool,
    },
    /// Take pictures of every page of a host with invented content, into target/screenshots
    Screenshots,
    /// Audit every public page of a host with invented content with Lighthouse, and print the scores
    Lighthouse,
    /// Build the command for packages, and make packages of it for pip, npm and Debian, and the folder of an image;
    /// with --check, also try them
    Package(package::Package),
    /// Write the software bill of materials of the command, as CycloneDX JSON
    Sbom(sbom::Sbom),
    /// Run fuzz targets with libFuzzer, all of them if none is named
    Fuzz(fuzz::Fuzz),
    /// Run the benchmarks, print a table and write target/bench.json
    Bench {
        /// Measure for a shorter time with fewer components; the figures are not comparable
        #[arg(long)]
        quick: bool,
        /// Run only these: throughput, tokens, mcp, sandbox, waiters, telemetry, recording, abuse, components, languages, relevance, search, saved_searches, matching, people, catalog, store, nodes, queries, migration, feeds, boards, media; only if it is named, also peers, which installs MCP servers by other authors
        parts: Vec<String>,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Serve { arguments } => serve(&arguments),
        Command::Test { full, filter } => test(full, filter.as_deref()),
        Command::Plugins => guests::build_plugins(),
        Command::Fixtures => guests::build_fixtures(),
        Command::Reference => reference(),
        Command::AgentEval => evaluate_agents(),
        Command::Clients => clients::install(),
        Command::Toolchains { full } => clients::install_toolchains(full),
        Command::Screenshots => screenshots::take(),
        Command::Lighthouse => lighthouse::audit(),
        Command::Package(package) => package.run(),
        Command::Sbom(sbom) => sbom.run(),
        Command::Fuzz(fuzz) => fuzz.run(),
        Command::Bench { quick, parts } => bench(quick, &parts),
    }
}

fn serve(arguments: &[String]) -> Result<()> {
    guests::build_plugins()?;
    print_progress(
        "building the host in release mode; the first time takes about 8 minutes on two cores",
    );
    cargo(&["build", "--release", "--workspace", "--bin", "portolan"])?;
    print_progress("starting the host; stop it with Ctrl-C");
    let binary = run::target_folder()?.join("release/portolan");
    run::replace(&binary, &[&["serve".to_owned(), "--test-mode".to_owned()], arguments].concat())
}

fn test(full: bool, filter: Option<&str>) -> Result<()> {
    guests::build_fixtures()?;
    postgres::install()?;
    debian::install_shellcheck()?;
    debian::install_registry()?;
    debian::install_nginx()?;
    debian::install_caddy()?;
    debian::install_pgbouncer()?;
    debian::install_prometheus()?;
    if full {
        debian::install_high_availability()?;
    }
    clients::install()?;
    clients::install_toolchains(full)?;
    let memory = run::memory_folder();
    let prepare = |tests: &mut process::Command| {
        if let Some(folder) = memory {
            tests.env("TMPDIR", folder);
        }
        if full {
            tests.env("PORTOLAN_TEST_FULL", "1");
        }
    };
    if let Some(filter) = filter {
        let mut tests = cargo_command(&["test", "--workspace", "--no-fail-fast", filter]);
        prepare(&mut tests);
        return run::run(&mut tests);
    }
    print_progress("checking the format");
    cargo(&["fmt", "--all", "--check"])?;
    for manifest in [fuzz::MANIFEST, peers::MANIFEST] {
        cargo(&["fmt", "--manifest-path", manifest, "--check"])?;
    }
    print_progress("checking the lints");
    cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])?;
    deny::check()?;
    print_progress("running the tests");
    test_run::run(prepare)?;
    if full {
        package::check_made()?;
        fuzz::run_all(FUZZ_SECONDS)?;
        bench(true, &[])?;
    }
    print_progress("all tests passed");
    Ok(())
}

fn reference() -> Result<()> {
    guests::build_fixtures()?;
    let mut test = cargo_command(&["test", "--workspace", "--test", "black_box", "reference::"]);
    run::run(test.env("PORTOLAN_WRITE_REFERENCE", "1"))
}

fn evaluate_agents() -> Result<()> {
    guests::build_fixtures()?;
    let filter = ["black_box", "agent_eval::", "--", "--nocapture", "--test-threads", "1"];
    run::run(cargo_command(&["test", "--quiet", "--workspace", "--test"]).args(filter))
}

/// Prints how well matching and searches order the listings of each labelled set.
fn print_relevance() -> Result<()> {
    let measures: [&[&str]; 2] = [
        &["--package", "matching_sessions", "listings_that_people_would_choose"],
        &["--workspace", "--test", "black_box", "searches_in_plain_words"],
    ];
    for set in LABELLED_SETS {
        print_progress(&format!("the labelled set {set}"));
        for measure in measures {
            let mut test = cargo_command(&["test", "--quiet"]);
            test.args(measure).args(["--", "--nocapture"]).env("MATCHING_CORPUS", set);
            run::run(&mut test)?;
        }
    }
    Ok(())
}

fn bench(quick: bool, parts: &[String]) -> Result<()> {
    guests::build_fixtures()?;
    if parts.is_empty() || parts.iter().any(|part| part == RELEVANCE) {
        print_relevance()?;
    }
    let measured: Vec<&String> = parts.iter().filter(|part| *part != RELEVANCE).collect();
    if measured.is_empty() && !parts.is_empty() {
        return Ok(());
    }
    postgres::install()?;
    debian::install_nginx()?;
    if parts.iter().any(|part| part == peers::PART) {
        peers::install()?;
    }
    print_progress(
        "building the benchmarks as packages are built; the first time takes about 15 minutes on two cores",
    );
    let binaries = ["--bin", "portolan", "--bin", "portolan-bench"];
    cargo(&[&["build", "--profile", run::DIST, "--workspace"], binaries.as_slice()].concat())?;
    let target = run::target_folder()?;
    let mut arguments = vec![target.join("bench.json").display().to_string()];
    if quick {
        arguments.push("--quick".to_owned());
    }
    arguments.extend(measured.into_iter().cloned());
    run::run(
        std::process::Command::new(target.join(run::DIST).join("portolan-bench")).args(&arguments),
    )
}
