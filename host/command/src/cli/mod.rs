//! The `portolan` command: its subcommands, one module each.

// Declared first, because its macro is used by the other modules.
#[macro_use]
mod output;

mod agents;
mod audit;
mod audit_log;
mod author;
mod cache;
mod call;
mod catalog;
mod check;
mod client;
mod configuration;
mod credentials;
mod database;
mod dead_letters;
mod decision;
mod demo;
mod describe;
mod doctor;
mod documents;
mod feeds;
mod incidents;
mod keys;
mod log_format;
mod media;
mod observation;
mod operator_token;
mod operators;
mod run;
mod serve;
mod signing;
mod statements;
mod people;
mod recordings;
mod registry;
mod releases;
mod timers;
mod version;
mod versions;

use crate::config::Flags;
use clap::{Parser, Subcommand};
use portolan_mcp::{Server, ServerHandler};
use portolan_sandbox::{Backtraces, CompileRequest};
use std::{path::PathBuf, process::ExitCode};

/// A host for capabilities: WebAssembly components that carry their own schema.
#[derive(Debug, Parser)]
#[command(
    name = "portolan",
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    disable_version_flag = true,
    max_term_width = 100
)]
pub struct Arguments {
    #[command(flatten)]
    version: version::Version,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the host: answer calls to the components of the catalog folder
    ///
    /// Settings come from portolan.toml in this folder, then from PORTOLAN_* variables, then from
    /// these flags.
    Serve(Flags),
    /// Find out what is wrong with a host, running or not, and how to fix it
    ///
    /// It asks the host on this machine, or looks at configuration, folders, keys, database, clock and
    /// addresses if none answers. The exit status is 1 if something does not work.
    Doctor(doctor::Doctor),
    /// Check the configuration, or show every setting with where it comes from
    #[command(subcommand)]
    Config(configuration::Configuration),
    /// Check a component before it goes into a catalog
    Check(check::Check),
    /// Write a component's reference in Markdown: its states, actions and errors
    Describe(describe::Describe),
    /// Create a capability in a folder of its own, with its cases for `portolan test`
    New(author::New),
    /// Build the component of a project in Rust, JavaScript, TypeScript or Python
    Build(author::Build),
    /// Build a project, serve it on a temporary host, and again after each change
    Dev(author::Dev),
    /// Run the cases of a capability in the sandbox
    Test(author::Test),
    /// Write the WIT package of the contract, for toolchains that make components
    Wit(author::Wit),
    /// Make the engine that runs the sources of a catalog, such as catalog/NAME.js or catalog/NAME.py
    Engine(author::Engine),
    /// Make a component of a core module that was built for the contract
    Componentize(author::Componentize),
    /// Call a capability of a running host
    Call(call::Call),
    /// Show the capabilities of a running host and the files that it has refused, or decide about them
    Catalog(catalog::CatalogCommand),
    /// Publish a version of a capability on a running host, and on all nodes of its database
    ///
    /// The host checks the component like `portolan check`, compares it with the serving version, and
    /// refuses it with a reason and a fix, or serves it at once. The replaced version can be brought back
    /// with `portolan rollback`. With --share, only a share of the callers gets it, until it is promoted or
    /// aborted with `portolan release`, or the host takes it back because it fails.
    Publish(versions::Publish),
    /// Show or decide about the release of a version to a share of the callers
    #[command(subcommand)]
    Release(releases::Release),
    /// Show the versions of a capability: how each came, from where, by whom, and which one is desired
    History(versions::History),
    /// Bring an earlier version of a capability back, on all nodes of the host's database
    ///
    /// It is refused if the stored documents do not fit the earlier version. If an older version of a
    /// signed component waits in the catalog folder (version_downgrade) and --to is not given, that one
    /// may serve.
    Rollback(versions::Rollback),
    /// Show the calls of a running host that are recorded
    Recordings(recordings::Recordings),
    /// Run a recorded call again, without any effect, and show what differs
    ///
    /// Everything that the call asked the host is answered from the record. It runs on the host, and shows no texts
    /// or numbers of people unless --whole is given. The exit status is 2 if something differs.
    Replay(recordings::Replay),
    /// Run a version over the recorded calls of its capability, and show what it changes
    ///
    /// Nothing is kept, and nobody notices. The exit status is 2 if something changes.
    Rehearse(recordings::Rehearse),
    /// Read a component from an OCI registry into a file; its digests are checked
    Pull(registry::Pull),
    /// Store a component in an OCI registry, as an artifact that other tools for WebAssembly read as well
    Push(registry::Push),
    /// Create a key that components are signed with, and print its public part
    Keygen(signing::Keygen),
    /// Sign a component, so that its id and its data belong to the holder of the key
    Sign(signing::Sign),
    /// Show the audit log of a running host: calls, callers and outcomes
    Audit(audit::Audit),
    /// Show what is wrong on a running host, each with its fix
    Problems(observation::Look),
    /// Show the runs of the last 15 minutes by action, the slowest first, and what was refused
    Calls(observation::Look),
    /// Show the traces that a running host has kept, or where the time of one went
    Traces(observation::Traces),
    /// Show the agents, addresses and networks that were refused the most or use the most of their limits
    Callers(observation::Look),
    /// Show the webhooks whose addresses do not take events
    Webhooks(observation::Look),
    /// Show the sources of the published feeds, those that cannot be read first
    Sources(observation::Look),
    /// Show the settings in force, without secrets
    Settings(observation::Look),
    /// Show the pending timers of a running host by capability and action, or remove those of one
    Timers(timers::Timers),
    /// Revoke an agent on a running host
    Agents(agents::Agents),
    /// Export or erase all that a running host stores about a person
    People(people::People),
    /// List, show and repair documents that a capability cannot read or could not migrate
    Documents(documents::Documents),
    /// Show the events whose delivery to a capability has failed for good, or deliver them again
    DeadLetters(dead_letters::DeadLetters),
    /// Run an internal action of a capability on a running host, such as taking a listing down
    Run(run::Run),
    /// Fill a running host with fictional people, in test mode
    Demo(demo::Demo),
    /// Build the public feeds from their sources, or check them
    Feeds(feeds::Feeds),
    /// Tell the public about incidents and planned maintenance on the page /status
    Incidents(incidents::Incidents),
    /// Decide about the files that people have uploaded
    Media(media::Media),
    /// Show or change the keys that access tokens are signed with
    Keys(keys::Keys),
    /// Show the operators of a running host, or add, renew and remove one
    Operators(operators::Operators),
    /// Change the token that the host itself has for the operator's address
    OperatorToken(operator_token::OperatorToken),
    /// Migrate the database's schema to this version; `serve` does this too
    Migrate(database::Migrate),
    /// Copy the database to a file while the host runs
    Backup(database::Backup),
    /// Replace the database with a backup; the host must be stopped
    Restore(database::Restore),
    /// Compile a component from standard input; `serve` runs this in a process of its own
    #[command(hide = true)]
    CompileComponent {
        output: PathBuf,
        /// Keep the debug information, for traps with source lines
        #[arg(long)]
        source_lines: bool,
        /// Keep the machine code of single functions in this file
        #[arg(long)]
        cache: Option<PathBuf>,
    },
}

impl Arguments {
    /// Runs the command. Errors go to standard error, each with its fix.
    pub fn run(self) -> ExitCode {
        self.run_wrapped(|server| server)
    }

    /// Runs the command with a wrapper around the MCP server, for programs that are built on this host.
    pub fn run_wrapped<S: ServerHandler + Send + 'static>(
        self,
        wrap: impl Fn(Server) -> S + Send + Sync + 'static,
    ) -> ExitCode {
        let Some(command) = self.command else { return self.version.run() };
        let result = match command {
            Command::Serve(flags) => serve::serve(&flags, wrap),
            Command::Doctor(doctor) => doctor.run(),
            Command::Config(configuration) => configuration.run(),
            Command::Check(check) => check.run(),
            Command::Describe(describe) => describe.run(),
            Command::New(new) => new.run(),
            Command::Build(build) => build.run(),
            Command::Dev(dev) => dev.run(),
            Command::Test(test) => test.run(),
            Command::Wit(wit) => wit.run(),
            Command::Engine(engine) => engine.run(),
            Command::Componentize(componentize) => componentize.run(),
            Command::Call(call) => call.run(),
            Command::Catalog(catalog) => catalog.run(),
            Command::Publish(publish) => publish.run(),
            Command::Release(release) => release.run(),
            Command::History(history) => history.run(),
            Command::Rollback(rollback) => rollback.run(),
            Command::Recordings(recordings) => recordings.run(),
            Command::Replay(replay) => replay.run(),
            Command::Rehearse(rehearse) => rehearse.run(),
            Command::Pull(pull) => pull.run(),
            Command::Push(push) => push.run(),
            Command::Keygen(keygen) => keygen.run(),
            Command::Sign(sign) => sign.run(),
            Command::Audit(audit) => audit.run(),
            Command::Problems(look) => look.run(&observation::PROBLEMS),
            Command::Calls(look) => look.run(&observation::CALLS),
            Command::Traces(traces) => traces.run(),
            Command::Callers(look) => look.run(&observation::CALLERS),
            Command::Webhooks(look) => look.run(&observation::WEBHOOKS),
            Command::Sources(look) => look.run(&observation::SOURCES),
            Command::Settings(look) => look.run(&observation::SETTINGS),
            Command::Timers(timers) => timers.run(),
            Command::Agents(agents) => agents.run(),
            Command::People(people) => people.run(),
            Command::Documents(documents) => documents.run(),
            Command::DeadLetters(letters) => letters.run(),
            Command::Run(run) => run.run(),
            Command::Demo(demo) => demo.run(),
            Command::Feeds(feeds) => feeds.run(),
            Command::Incidents(incidents) => incidents.run(),
            Command::Media(media) => media.run(),
            Command::Keys(keys) => keys.run(),
            Command::Operators(operators) => operators.run(),
            Command::OperatorToken(token) => token.run(),
            Command::Migrate(migrate) => migrate.run(),
            Command::Backup(backup) => backup.run(),
            Command::Restore(restore) => restore.run(),
            Command::CompileComponent { output, source_lines, cache } => {
                let backtraces = if source_lines { Backtraces::Source } else { Backtraces::Names };
                let request = CompileRequest { output, backtraces, cache };
                let status = portolan_sandbox::compile_from_stdin(request);
                return ExitCode::from(u8::try_from(status).unwrap_or(1));
            }
        };
        result.unwrap_or_else(|error| {
            eprintln!("portolan: {error:#}");
            ExitCode::FAILURE
        })
    }
}
