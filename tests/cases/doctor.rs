//! `portolan doctor` and `portolan config`: each fault is named with its fix, within seconds.

use crate::harness::{Host, Options, Process, command, database::Database, postgres};
use portolan_http::node::PARTS;
use serde_json::Value;
use std::{
    fs,
    io::{Seek as _, SeekFrom, Write as _},
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Output, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The time within which a fault must be named.
const SOON: Duration = Duration::from_secs(30);

/// The findings of the doctor.
#[derive(Debug)]
pub struct Diagnosis {
    pub success: bool,
    pub found: Value,
}

/// Runs `portolan doctor` in a folder, for a host at free ports.
pub fn diagnose(folder: &Path, environment: &[(&str, &str)], arguments: &[&str]) -> Diagnosis {
    let ports = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
    diagnose_as_configured(folder, environment, &[&ports, arguments].concat())
}

/// Runs `portolan doctor` in a folder, for a host at the addresses of its configuration or of these arguments.
pub fn diagnose_as_configured(
    folder: &Path,
    environment: &[(&str, &str)],
    arguments: &[&str],
) -> Diagnosis {
    let started = Instant::now();
    let output = run(folder, environment, &[&["doctor", "--json"], arguments].concat());
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    let text = String::from_utf8_lossy(&output.stdout);
    let found = serde_json::from_str(&text)
        .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    Diagnosis { success: output.status.success(), found }
}

fn run(folder: &Path, environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = command(folder);
    let environment = environment.iter().copied();
    command.envs(environment).stderr(Stdio::piped()).args(arguments).output().unwrap()
}

impl Diagnosis {
    /// Returns the problems of a part.
    pub fn of(&self, part: &str) -> Vec<&Value> {
        let problems = self.found["problems"].as_array().unwrap().iter();
        problems.filter(|problem| problem["part"] == part).collect()
    }

    /// Asserts that a problem of a part is named with these texts, and with its reason and its fix.
    pub fn names(&self, part: &str, severity: &str, texts: &[&str]) {
        let found = self.of(part).into_iter().any(|problem| {
            let text = problem.to_string();
            let is_whole = ["problem", "why", "fix"]
                .iter()
                .all(|member| problem[member].as_str().is_some_and(|text| !text.is_empty()));
            is_whole
                && problem["severity"] == severity
                && texts.iter().all(|part| text.contains(part))
        });
        assert!(found, "no {severity} of {part} with {texts:?}: {:#}", self.found);
        assert_eq!(self.success, severity != "error" && self.success, "{:#}", self.found);
    }
}

/// Returns the folder of a host that has run and was stopped.
fn stopped(options: Options) -> TempDir {
    let host = Process::start(options);
    host.signal("TERM");
    let (status, folder) = host.wait();
    assert!(status.success());
    folder
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sound_host_is_told_to_be_sound_running_or_not() {
    let host = Process::with(&["notes"]);
    let output = run(host.folder.path(), &[], &["doctor"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("the host is running and ready"), "{text}");
    host.signal("TERM");
    let (_, folder) = host.wait();
    let diagnosis = diagnose(folder.path(), &[], &[]);
    assert!(diagnosis.success, "{:#}", diagnosis.found);
    diagnosis.names("host", "warning", &["no host answers", "systemctl start portolan"]);
    // Before the first start, too.
    let folder = Options::with(&["notes"]).folder();
    assert!(diagnose(folder.path(), &[], &[]).success);
    assert!(!folder.path().join("data").exists(), "the doctor changes nothing");
}

#[test]
fn faults_of_the_configuration_are_named_each() {
    let folder =
        Options::default().configuration("listen = \"nowhere\"\nfeeds_dirs = \"x\"").folder();
    diagnose_as_configured(folder.path(), &[], &[]).names(
        "configuration",
        "error",
        &["feeds_dirs"],
    );
    let folder = Options::default().configuration("listen = \"nowhere\"\nlog = \"a=b=c\"").folder();
    let diagnosis = diagnose_as_configured(folder.path(), &[("PORTOLAN_LISTN", "x")], &[]);
    diagnosis.names("configuration", "error", &["listen is", "127.0.0.1:8080"]);
    diagnosis.names("configuration", "error", &["log is"]);
    diagnosis.names("configuration", "warning", &["PORTOLAN_LISTN", "unset"]);
}

#[test]
fn other_and_missing_secret_keys_are_named() {
    let folder = stopped(Options::with(&["notes"]));
    let file = folder.path().join("data/secret.keys");
    let keys = fs::read_to_string(&file).unwrap();
    let other = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n";
    for text in [Some(other), None] {
        match text {
            Some(text) => fs::write(&file, text).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let diagnosis = diagnose(folder.path(), &[], &[]);
        diagnosis.names("keys", "error", &["does not have the secret keys", "put the line back"]);
    }
    fs::write(&file, "no key").unwrap();
    diagnose(folder.path(), &[], &[]).names("keys", "error", &["cannot be used", "32 bytes"]);
    fs::write(&file, keys).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    diagnose(folder.path(), &[], &[]).names("keys", "warning", &["others may read", "chmod 600"]);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(diagnose(folder.path(), &[], &[]).of("keys").is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_node_with_other_keys_is_named_and_does_not_start() {
    let url = postgres::database().await;
    let _first = Host::start(Options::default().postgres(&url)).await;
    let configuration = format!("database_url = \"{url}\"");
    let second = Options::default().add_configuration(&configuration).folder();
    let diagnosis = diagnose(second.path(), &[], &[]);
    diagnosis.names("keys", "error", &["secret.keys or PORTOLAN_SECRET_KEYS of the other nodes"]);
    let start = ["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
    let output = run(second.path(), &[], &start);
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("which this host does not have"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_and_a_newer_database_are_named() {
    let folder = stopped(Options::with(&["notes"]));
    let path = folder.path().join("data/portolan.db");
    let whole = fs::read(&path).unwrap();
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    // The first page is sound, so that only a look at all pages finds it.
    file.seek(SeekFrom::Start(whole.len() as u64 / 2)).unwrap();
    file.write_all(&vec![0x5a; whole.len() / 3]).unwrap();
    drop(file);
    let damaged = ["damaged", "portolan restore"];
    diagnose(folder.path(), &[], &[]).names("database", "error", &damaged);
    fs::write(&path, "no database ".repeat(1000)).unwrap();
    let unusable = ["not a database", "portolan restore"];
    diagnose(folder.path(), &[], &[]).names("database", "error", &unusable);
    fs::write(&path, &whole).unwrap();
    let step =
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                SELECT 9999, 'later', success, checksum, 1 FROM _sqlx_migrations WHERE version = 1";
    Database::of(folder.path()).execute(step).await;
    let newer = ["newer version", "install the newer version"];
    diagnose(folder.path(), &[], &[]).names("database", "error", &newer);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_down_or_takes_no_writes_is_named() {
    let mut server = postgres::Server::start(30);
    let url = server.database().await;
    let folder = Options::default().postgres(&url).folder();
    assert!(diagnose(folder.path(), &[], &[]).success);
    let read_only = format!("{url}?options=-c%20default_transaction_read_only%3Don");
    let reading = Options::default().postgres(&read_only).folder();
    let named = ["takes no writes", "pg_promote"];
    diagnose(reading.path(), &[], &[]).names("database", "error", &named);
    server.kill();
    let named = ["Connection refused", "systemctl start postgresql"];
    diagnose(folder.path(), &[], &[]).names("database", "error", &named);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_host_on_a_folder_and_a_taken_port_are_named() {
    let host = Process::with(&["notes"]);
    let folder = host.folder.path();
    // Without the socket and another operator's address, the host cannot be asked.
    fs::remove_file(folder.join("data/operator.sock")).unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let diagnosis = diagnose_as_configured(
        folder,
        &[("PORTOLAN_ADMIN_LISTEN", &address)],
        &["--listen", &address],
    );
    diagnosis.names("host", "error", &["a process uses", "portolan.db", "fuser -v"]);
    diagnosis.names("ports", "error", &[&address, "ss -ltnp"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_refuses_to_answer_is_told_to_run() {
    let host = Process::with(&["notes"]);
    let folder = host.folder.path();
    let is_told = |diagnosis: &Diagnosis, refusal: &str| {
        assert_eq!(diagnosis.found["host"], "running", "{:#}", diagnosis.found);
        let fix = ["sudo portolan-admin doctor", "PORTOLAN_OPERATOR_TOKEN"];
        diagnosis.names("host", "error", &[refusal, fix[0], fix[1]]);
        assert_eq!(diagnosis.of("host").len(), 1, "{:#}", diagnosis.found);
        let text = diagnosis.found.to_string();
        for wrong in ["start it", "nobody is served", "a process uses", "nothing can listen"] {
            assert!(!text.contains(wrong), "{wrong}: {text}");
        }
    };
    let wrong = [("PORTOLAN_OPERATOR_TOKEN", "ptl_op_wrong")];
    let elsewhere = diagnose(folder, &wrong, &["--admin-url", &host.admin_url]);
    is_told(&elsewhere, "no operator's token");
    // Another user sees neither the socket nor the token.
    fs::remove_file(folder.join("data/operator.sock")).unwrap();
    fs::rename(folder.join("data/operator.token"), folder.join("aside")).unwrap();
    let address = host.admin_url.strip_prefix("http://").unwrap();
    let here = ["--listen", "127.0.0.1:0", "--admin-listen", address];
    is_told(&diagnose_as_configured(folder, &[], &here), "Send the operator's token");
    let text = run(folder, &[], &[&["doctor"], &here[..]].concat());
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("the host is running; errors: 1"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_answers_slowly_or_in_part_is_named_by_a_host_that_runs() {
    let url = postgres::database().await;
    let host = Host::start(Options::with(&["notes"]).postgres(&url)).await;
    let mut connection = postgres::connect(&url).await;
    let lock = "BEGIN; LOCK TABLE deliveries";
    sqlx::raw_sql(lock).execute(&mut connection).await.unwrap();
    let diagnosis = diagnose(host.folder.path(), &[], &[]);
    assert_eq!(diagnosis.found["host"], "running", "{:#}", diagnosis.found);
    diagnosis.names("database", "warning", &["answers slowly", "pg_stat_activity"]);
    sqlx::raw_sql("ROLLBACK").execute(&mut connection).await.unwrap();
    let hide = "ALTER TABLE webhooks RENAME TO hidden";
    sqlx::raw_sql(hide).execute(&mut connection).await.unwrap();
    let diagnosis = diagnose(host.folder.path(), &[], &[]);
    assert_eq!(diagnosis.found["host"], "running", "{:#}", diagnosis.found);
    diagnosis.names("database", "error", &["its records cannot be read", "webhooks"]);
    let show = "ALTER TABLE hidden RENAME TO webhooks";
    sqlx::raw_sql(show).execute(&mut connection).await.unwrap();
    assert!(diagnose(host.folder.path(), &[], &[]).of("database").is_empty());
}

#[test]
fn folders_are_looked_at() {
    let folder = stopped(Options::default());
    let data = folder.path().join("data");
    diagnose(folder.path(), &[], &[]).names("catalog", "warning", &["is empty", "cp /usr/share"]);
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    let open = ["others may use", "chmod 700"];
    diagnose(folder.path(), &[], &[]).names("data_folder", "warning", &open);
    // Only root can give a file away.
    if std::os::unix::fs::chown(data.join("node"), Some(12), None).is_ok() {
        let foreign = ["belongs to user 12", "chown -R"];
        diagnose(folder.path(), &[], &[]).names("data_folder", "error", &foreign);
    }
    fs::remove_dir(folder.path().join("catalog")).unwrap();
    fs::write(folder.path().join("catalog"), "a file").unwrap();
    diagnose(folder.path(), &[], &[]).names("catalog", "error", &["cannot be read", "chown"]);
}

#[test]
fn every_setting_is_shown_with_its_origin_and_without_secrets() {
    let secret = "a-token-of-the-configuration-0123456789";
    let configuration = format!("operator_token = \"{secret}\"\nlisten = \"127.0.0.1:7\"");
    let folder = Options::default().configuration(&configuration).folder();
    let environment = [("PORTOLAN_FEEDS_DIR", "elsewhere")];
    let dump = |arguments: &[&str]| {
        let output = run(folder.path(), &environment, arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let text = dump(&["config", "dump", "--data-dir", "there"]);
    for line in [
        "listen = 127.0.0.1:7  # portolan.toml",
        "feeds_dir = elsewhere  # PORTOLAN_FEEDS_DIR",
        "data_dir = there  # --data-dir",
        "limits.call_wall_time_ms = 2000  # default",
        "operator_token = set, and not shown  # portolan.toml",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}: {text}");
    }
    assert!(!text.contains(secret), "{text}");
    let rows: Value = serde_json::from_str(&dump(&["config", "dump", "--json"])).unwrap();
    assert!(rows.as_array().unwrap().iter().any(|row| row["from"] == "PORTOLAN_FEEDS_DIR"));
    assert!(dump(&["config", "check"]).contains("the configuration is valid (portolan.toml)"));
    let output = run(folder.path(), &environment, &["config", "check", "--listen", "nowhere"]);
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("listen is") && error.contains("127.0.0.1:8080"), "{error}");
}

#[test]
fn the_documentation_lists_each_part_with_what_makes_a_node_unready() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let text = fs::read_to_string(format!("{folder}/../../docs/operations.md")).unwrap();
    for part in PARTS {
        let unready = if part.unready.is_empty() { "never" } else { part.unready };
        let line = format!("| `{}` | {unready} | {} |", part.name, part.why);
        assert!(text.contains(&line), "docs/operations.md needs the line\n{line}");
    }
}
