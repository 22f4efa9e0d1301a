//! One action of the bookshelf in each language of the SDKs, over REST with a fresh sandbox for each call: as a
//! component, and as a source that an engine runs. One host serves them all, and one client calls them in turns.
//!
//! A project in TypeScript is the same component as one in JavaScript.

use crate::{
    Effort,
    client::{Client, text},
    host::{BenchHost, Setup, guest, guests},
    report::{Report, median, percentile, spread},
};
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The calls of each contender in a round.
const CALLS: usize = 200;
/// The time within which the host loads all files; the engines are compiled in it.
const LOADING: Duration = Duration::from_secs(300);
/// The time after which a refusal by the catalog is final: a source is refused until its engine is there.
const SETTLING: Duration = Duration::from_secs(10);
/// The command that installs the compilers in the versions of the tests.
const INSTALL: &str = "cargo xtask clients";

/// The bookshelf in a language.
struct Contender {
    name: &'static str,
    /// The id of its capability, by which its file is named too.
    id: &'static str,
    form: Form,
    /// The ratio of its p50 to that of Rust that is aimed at: at most this.
    goal: Option<f64>,
}

/// The file that a catalog has of a contender.
#[derive(Clone, Copy)]
enum Form {
    /// The component that `cargo xtask fixtures` builds, with the settings of `portolan build --release`.
    Fixture,
    /// The component that `portolan build --release` builds of a new project in this language.
    Component { language: &'static str },
    /// The main module of a new project in this language.
    Source { language: &'static str, module: &'static str, ending: &'static str },
}

/// The first one is what the others are compared with.
const CONTENDERS: [Contender; 5] = [
    Contender { name: "Rust", id: "bookshelf", form: Form::Fixture, goal: None },
    Contender {
        name: "JavaScript",
        id: "bookshelf_js",
        form: Form::Component { language: "js" },
        goal: Some(3.0),
    },
    Contender {
        name: "Python",
        id: "bookshelf_python",
        form: Form::Component { language: "python" },
        goal: Some(12.0),
    },
    Contender {
        name: "JavaScript, a source",
        id: "bookshelf_js_source",
        form: Form::Source { language: "js", module: "index.js", ending: "js" },
        goal: None,
    },
    Contender {
        name: "Python, a source",
        id: "bookshelf_python_source",
        form: Form::Source { language: "python", module: "app.py", ending: "py" },
        goal: None,
    },
];

/// A contender that the host serves, and what it has measured.
struct Served {
    contender: &'static Contender,
    /// The call that is measured: the book that was added is read.
    call: Value,
    /// The result that each call must have.
    result: Value,
    /// The times of the calls of each round, in ms.
    rounds: Vec<Vec<f64>>,
}

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let author = Author::new()?;
    let (mut files, mut skipped, mut built) = (Vec::new(), Vec::new(), Vec::new());
    for contender in &CONTENDERS {
        eprintln!("languages: building {}", contender.name);
        match author.make(contender)? {
            Made::Files(made) => {
                files.extend(made);
                built.push(contender);
            }
            Made::Missing(why) => skipped.push((contender, why)),
        }
    }
    let guests = ["svc_phone_binding"];
    let setup = Setup { files: &files, runs_due_work: true, ..Setup::with(&guests) };
    let host = BenchHost::of(setup).await?;
    wait_until_served(&host, &built).await?;
    let mut client = Client::claimed(&host).await?;
    let mut served = Vec::new();
    for contender in built {
        served.push(Served::with_a_book(contender, &mut client).await?);
    }
    // The first round warms up and is not counted.
    for round in 0..=effort.rounds {
        eprintln!("languages, round {round} of {}", effort.rounds);
        for one in &mut served {
            let times = one.round(&mut client).await?;
            if round > 0 {
                one.rounds.push(times);
            }
        }
    }
    add_figures(&served, report);
    for (contender, why) in skipped {
        report.skip(title(contender), format!("{why} (or `{INSTALL}`)"));
    }
    Ok(())
}

fn title(contender: &Contender) -> String {
    format!("bookshelf in {}", contender.name)
}

/// Adds the p50, compared with that of the first contender, and the p99 of each contender.
fn add_figures(served: &[Served], report: &mut Report) {
    let medians =
        |one: &Served| -> Vec<f64> { one.rounds.iter().map(|times| median(times)).collect() };
    let Some(base) = served.first() else { return };
    let (base_name, base_medians) = (format!("{}: p50", title(base.contender)), medians(base));
    for (index, one) in served.iter().enumerate() {
        let (title, times) = (title(one.contender), one.rounds.concat());
        report.add(format!("{title}: p50"), median(&times), "ms");
        if index > 0 {
            let own = medians(one);
            let ratios: Vec<f64> =
                own.iter().zip(&base_medians).map(|(own, base)| own / base).collect();
            report.compare_with(&base_name, median(&ratios), Some(spread(&ratios)));
            if let Some(goal) = one.contender.goal {
                report.aim_at_most(goal);
            }
        }
        report.add(format!("{title}: p99"), percentile(&times, 99), "ms");
    }
}

/// Waits until the host serves these contenders.
async fn wait_until_served(host: &BenchHost, contenders: &[&Contender]) -> Result<()> {
    let (catalog, started) = (&host.app.host.catalog, Instant::now());
    loop {
        let snapshot = catalog.snapshot();
        if contenders.iter().all(|contender| snapshot.capabilities.contains_key(contender.id)) {
            return Ok(());
        }
        let status = catalog.status();
        let is_settled = status.pending.is_empty() && started.elapsed() > SETTLING;
        if is_settled && let Some(refused) = status.refused.first() {
            bail!("{} is refused: {}; {}", refused.file, refused.message, refused.fix);
        }
        ensure!(started.elapsed() < LOADING, "the bookshelves are not loaded in time");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

impl Served {
    /// Adds a book to the shelf of a contender.
    async fn with_a_book(contender: &'static Contender, client: &mut Client) -> Result<Self> {
        let (title, author, isbn) = ("Solaris", "Stanisław Lem", "9780156027601");
        let add = json!({ "action": "add", "title": title, "author": author, "isbn": isbn });
        let added = client.result(contender.id, &add).await?;
        let id = text(&added, "/id");
        let result = json!({
            "id": id, "title": title, "author": author, "isbn": isbn, "deposit": 0, "due_at": null,
        });
        let call = json!({ "action": "get", "id": id });
        Ok(Self { contender, call, result, rounds: Vec::new() })
    }

    /// Makes the calls of a round, one after the other, and returns their times in ms.
    async fn round(&self, client: &mut Client) -> Result<Vec<f64>> {
        let mut times = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let reply = client.call(self.contender.id, &self.call).await?;
            let result = reply.result()?;
            ensure!(*result == self.result, "{} answers {result}", self.contender.id);
            times.push(reply.took_ms);
        }
        Ok(times)
    }
}

/// What became of a contender.
enum Made {
    /// The files for the catalog: their paths in its folder, and their contents.
    Files(Vec<(String, Vec<u8>)>),
    /// The sentence that names a missing compiler and how it is installed.
    Missing(String),
}

/// The command `portolan` that is built beside this program, with the compilers of the tests before those in the
/// `PATH`.
struct Author {
    program: PathBuf,
    path: OsString,
    python_path: PathBuf,
    folder: TempDir,
}

impl Author {
    fn new() -> Result<Self> {
        let program = env::current_exe()?.with_file_name("portolan");
        ensure!(program.exists(), "{} is not built", program.display());
        let tools = guests()?.with_file_name("clients");
        let folders = ["node_modules/.bin", "python/bin"].map(|folder| tools.join(folder));
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(folders.into_iter().chain(env::split_paths(&path)))?;
        Ok(Self { program, path, python_path: tools.join("python"), folder: TempDir::new()? })
    }

    /// Makes the files of a contender.
    fn make(&self, contender: &Contender) -> Result<Made> {
        let id = contender.id;
        match contender.form {
            Form::Fixture => Ok(Made::Files(vec![(format!("{id}.wasm"), guest(id)?)])),
            Form::Component { language } => {
                let component = self.folder.path().join(format!("{id}.wasm"));
                let made = component.display().to_string();
                self.new_project(id, language)?;
                let missing = self.run(&["build", "--release", id, "--output", &made])?;
                Self::made(missing, &[(format!("{id}.wasm"), &component)])
            }
            Form::Source { language, module, ending } => {
                let engine = self.folder.path().join(format!("engine.{ending}.wasm"));
                let made = engine.display().to_string();
                self.new_project(id, language)?;
                let missing = self.run(&["engine", ending, "--output", &made])?;
                let source = self.folder.path().join(id).join(module);
                let engine_path = format!(".engines/{ending}.wasm");
                Self::made(missing, &[(engine_path, &engine), (format!("{id}.{ending}"), &source)])
            }
        }
    }

    /// Makes a project. In its files, the name of the bookshelf is the id.
    fn new_project(&self, id: &str, language: &str) -> Result<()> {
        let missing = self.run(&["new", id, "--lang", language])?;
        ensure!(missing.is_none(), "portolan new needs no compiler");
        Ok(())
    }

    fn made(missing: Option<String>, files: &[(String, &Path)]) -> Result<Made> {
        if let Some(missing) = missing {
            return Ok(Made::Missing(missing));
        }
        let read = |(path, file): &(String, &Path)| -> Result<(String, Vec<u8>)> {
            let content =
                fs::read(file).with_context(|| format!("{} was not made", file.display()))?;
            Ok((path.clone(), content))
        };
        Ok(Made::Files(files.iter().map(read).collect::<Result<_>>()?))
    }

    /// Runs the command. `Some` is the sentence that names a missing compiler; any other failure is an error.
    fn run(&self, arguments: &[&str]) -> Result<Option<String>> {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("PATH", &self.path).env("PYTHONPATH", &self.python_path);
        command.env("PORTOLAN_CACHE_DIR", self.folder.path().join("cache"));
        let output = command.output()?;
        if output.status.success() {
            return Ok(None);
        }
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed);
        match missing_compiler(&printed) {
            Some(sentence) => Ok(Some(sentence.to_owned())),
            None => bail!("portolan {} failed: {printed}", arguments.join(" ")),
        }
    }
}

/// Returns the sentence of `portolan` that names a missing program and how it is installed.
fn missing_compiler(printed: &str) -> Option<&str> {
    printed.lines().find(|line| line.contains(" is missing")).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_is_told_from_another_failure() {
        for sentence in [
            "error: componentize-py is missing; install it: pip install componentize-py==0.25.1",
            "componentize-qjs is missing: npm install -g componentize-qjs@0.4.5",
        ] {
            let printed = format!("building\n  {sentence}\nerror: node failed; see above\n");
            assert_eq!(missing_compiler(&printed), Some(sentence));
        }
        assert_eq!(missing_compiler("index.js:3: not a module\n"), None);
    }
}
