//! The installer for POSIX shells, as the host serves it, run by the installed shells.

use crate::harness::{Host, Options, Process, Reply, binary};
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

/// The script, in a folder that serves as a person's home folder.
struct Installer {
    home: TempDir,
    script: PathBuf,
}

impl Installer {
    async fn of(host: &Host) -> Self {
        let reply = host.get("/v1/install/install.sh").await;
        assert_eq!(reply.status, 200);
        Self::new(&reply.text)
    }

    fn new(script: &str) -> Self {
        let home = TempDir::new().unwrap();
        let path = home.path().join("install.sh");
        fs::write(&path, script).unwrap();
        Self { home, script: path }
    }

    fn file(&self) -> PathBuf {
        self.home.path().join(".config/portolan/credentials.json")
    }

    fn credentials(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.file()).unwrap()).unwrap()
    }

    /// Returns a command that runs the script by a shell such as `sh` or `busybox sh`, with only
    /// `PATH` and `HOME` in its environment.
    fn command(&self, shell: &str) -> Command {
        let mut words = shell.split(' ');
        let mut command = Command::new(words.next().unwrap());
        command.args(words).arg(&self.script).env_clear().current_dir(self.home.path());
        command.env("PATH", std::env::var("PATH").unwrap()).env("HOME", self.home.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command("sh").args(arguments).output().unwrap()
    }

    /// Runs the script, which must succeed, and returns its output.
    fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the script, which must fail, and returns its error message.
    fn fails(&self, arguments: &[&str]) -> String {
        failed(&self.run(arguments), 1)
    }
}

fn failed(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn is_installed(program: &str) -> bool {
    let searched = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&searched).any(|folder| folder.join(program).exists())
}

/// Returns the number of agents that the host has registered.
async fn agents(host: &Host) -> usize {
    host.database().texts("SELECT id FROM documents WHERE id LIKE 'agt_%'").await.len()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test(flavor = "multi_thread")]
async fn the_script_registers_an_agent_and_stores_the_client_key() {
    let host = Host::with(&["faq_search"]).await;
    let installer = Installer::of(&host).await;
    // The script is read from standard input, as with `curl … | sh`.
    let output = Command::new("sh")
        .args(["-s", "--", "--name", "Ada's \"agent\" \\o/ é"])
        .env("HOME", installer.home.path())
        .env_remove("XDG_CONFIG_HOME")
        .stdin(fs::File::open(&installer.script).unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let credentials = installer.credentials();
    let mut fields: Vec<_> = credentials.as_object().unwrap().keys().collect();
    fields.sort_unstable();
    assert_eq!(fields, ["agent_id", "base_url", "client_id", "client_key"]);
    assert_eq!(credentials["base_url"], host.url.as_str());
    assert_eq!((mode(&installer.file()), mode(installer.file().parent().unwrap())), (0o600, 0o700));
    let left = fs::read_dir(installer.file().parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "no unfinished file is left");
    assert!(!text.contains(credentials["client_key"].as_str().unwrap()), "{text}");
    assert!(text.contains(credentials["agent_id"].as_str().unwrap()), "{text}");
    let name = "SELECT json_extract(body, '$.name') FROM documents WHERE id LIKE 'agt_%'";
    assert_eq!(host.database().texts(name).await, ["Ada's \"agent\" \\o/ é"]);

    let form = [
        ("grant_type", "client_credentials"),
        ("client_id", credentials["client_id"].as_str().unwrap()),
        ("client_secret", credentials["client_key"].as_str().unwrap()),
    ];
    let request = host.client.post(format!("{}/oauth/token", host.url)).form(&form);
    assert_eq!(Reply::read(request.send().await.unwrap()).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_call_that_the_script_prints_works_unchanged() {
    let host = Host::with(&["faq_search"]).await;
    let installer = Installer::of(&host).await;
    let printed = installer.succeeds(&[]);
    // The commands are indented by two spaces. The claim is left out, because it needs a person.
    let commands: Vec<_> = printed
        .lines()
        .filter(|line| line.starts_with("  ") && !line.contains("svc.phone-binding"))
        .collect();
    let output = Command::new("sh").arg("-euc").arg(commands.join("\n")).output().unwrap();
    assert!(output.status.success(), "{output:?} {printed}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["result"]["items"][0]["slug"], "claim-by-phone", "{answer:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_calls_as_the_agent_that_was_installed() {
    let host = Host::with(&["svc_whoami"]).await;
    let installer = Installer::of(&host).await;
    installer.succeeds(&[]);
    let caller = |url: &str| {
        let mut command = Command::new(binary());
        command.args(["call", "svc.whoami", "--url", url]).env_clear();
        let output = command.env("HOME", installer.home.path()).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["result"]["agent_id"].clone()
    };
    let installed = installer.credentials()["agent_id"].clone();
    assert_eq!(caller(&host.url), installed);
    assert_eq!(caller(&format!("{}/", host.url)), installed);
    // The credentials of one host are not sent to another.
    let other = Host::with(&["svc_whoami"]).await;
    assert_ne!(caller(&other.url), installed);
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_are_not_overwritten_without_an_option() {
    let host = Host::with(&[]).await;
    let installer = Installer::of(&host).await;
    installer.succeeds(&[]);
    let first = installer.credentials();
    let why = installer.fails(&[]);
    assert!(why.contains("is there already") && why.contains("--force"), "{why}");
    assert_eq!((installer.credentials(), agents(&host).await), (first.clone(), 1));
    installer.succeeds(&["--force", "--name=second"]);
    assert_ne!(installer.credentials()["agent_id"], first["agent_id"]);
    assert_eq!((mode(&installer.file()), agents(&host).await), (0o600, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_sends_nothing_and_changes_nothing() {
    let host = Host::with(&[]).await;
    let installer = Installer::of(&host).await;
    let output = installer.succeeds(&["--dry-run"]);
    let file = installer.file();
    assert!(output.contains(&format!("would write {}", file.display())), "{output}");
    assert_eq!((agents(&host).await, installer.home.path().join(".config").exists()), (0, false));
    installer.succeeds(&[]);
    let before = installer.credentials();
    assert!(installer.succeeds(&["--dry-run", "--force"]).contains("would replace"));
    assert!(installer.succeeds(&["--dry-run", "--uninstall"]).contains("would remove"));
    assert_eq!((installer.credentials(), agents(&host).await), (before, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn removing_says_what_was_removed() {
    let host = Host::with(&[]).await;
    let installer = Installer::of(&host).await;
    assert!(installer.succeeds(&["--uninstall"]).contains("nothing to remove"));
    installer.succeeds(&[]);
    let agent_id = installer.credentials()["agent_id"].as_str().unwrap().to_owned();
    let output = installer.succeeds(&["--uninstall"]);
    let file = installer.file();
    assert!(output.contains(&format!("removed {}", file.display())), "{output}");
    assert!(output.contains(&agent_id) && output.contains("revoke_agent"), "{output}");
    assert!(!file.parent().unwrap().exists());
    installer.succeeds(&[]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_script_runs_in_the_shells_and_clients_of_small_systems() {
    let host = Host::with(&[]).await;
    let mut registered = 0;
    for shell in ["sh", "dash", "bash --posix", "busybox sh"] {
        if !is_installed(shell.split(' ').next().unwrap()) {
            continue;
        }
        for client in ["curl", "wget", "busybox"] {
            if !is_installed(client) {
                continue;
            }
            let installer = Installer::of(&host).await;
            let tools = with_client(&installer, client);
            let output = installer.command(shell).env("PATH", &tools).output().unwrap();
            assert!(output.status.success(), "{shell}, {client}: {output:?}");
            registered += 1;
            assert_eq!(agents(&host).await, registered, "{shell}, {client}");
            assert_eq!(mode(&installer.file()), 0o600);

            let mut refused = installer.command(shell);
            refused.env("PATH", &tools).args(["--force", "--name", &"long ".repeat(30)]);
            let why = failed(&refused.output().unwrap(), 1);
            assert!(why.contains("refused with status 400"), "{shell}, {client}: {why}");
            // The wget of busybox, which its shell prefers to any other, shows only the status of a
            // refusal.
            let bare = client == "busybox" || shell == "busybox sh" && client == "wget";
            assert!(bare || why.contains("(validation_failed)"), "{client}: {why}");
            assert!(why.contains("to fix it:"), "{why}");
        }
    }
    assert!(registered > 0);
}

/// Creates a folder with the programs that the script uses, and this HTTP client as the only one.
fn with_client(installer: &Installer, client: &str) -> PathBuf {
    let folder = installer.home.path().join("tools");
    fs::create_dir(&folder).unwrap();
    let searched = std::env::var_os("PATH").unwrap();
    let programs =
        ["cat", "grep", "mkdir", "mv", "od", "rm", "rmdir", "sed", "sh", "tr", "dash", "bash"];
    for (name, target) in programs
        .into_iter()
        .map(|name| (name, name))
        .chain([(if client == "curl" { "curl" } else { "wget" }, client), ("busybox", "busybox")])
    {
        let found = std::env::split_paths(&searched)
            .map(|path| path.join(target))
            .find(|path| path.exists());
        if let Some(found) = found {
            std::os::unix::fs::symlink(found, folder.join(name)).unwrap();
        }
    }
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn obstacles_are_reported_with_a_fix() {
    let host = Process::with(&[]);
    let installer = Installer::of(&host).await;
    for (option, part) in [("--purge", "there is no option --purge"), ("--name", "needs a name")] {
        let why = failed(&installer.run(&[option]), 2);
        assert!(why.contains(part) && why.contains("Usage:"), "{why}");
    }
    assert!(installer.succeeds(&["--help"]).contains("--uninstall"));

    // The home is a file, so that root cannot write into it either.
    let in_the_way = installer.home.path().join("file");
    fs::write(&in_the_way, "").unwrap();
    let output = installer.command("sh").env("HOME", &in_the_way).output().unwrap();
    let why = failed(&output, 1);
    assert!(why.contains("cannot be written") && why.contains("to fix it:"), "{why}");
    let output = installer.command("sh").env("HOME", "").output().unwrap();
    assert!(failed(&output, 1).contains("there is no home folder"));
    let tools = with_client(&installer, "no-client-at-all");
    let output = installer.command("sh").env("PATH", &tools).output().unwrap();
    assert!(failed(&output, 1).contains("neither curl nor wget"));
    assert_eq!(agents(&host).await, 0, "a script that fails registers no agent");

    // A folder from `XDG_CONFIG_HOME`, and then a host that does not answer.
    let elsewhere = installer.home.path().join("else where");
    let output = installer.command("sh").env("XDG_CONFIG_HOME", &elsewhere).output().unwrap();
    assert!(output.status.success() && elsewhere.join("portolan/credentials.json").exists());
    host.signal("KILL");
    let (_status, _folder) = host.wait();
    let why = installer.fails(&[]);
    assert!(why.contains("does not answer") && why.contains("to fix it:"), "{why}");
    assert!(!installer.file().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_reported_in_the_hosts_words() {
    let refusals = [
        (
            "429 Too Many Requests",
            json!({
                "error_code": "rate_limited", "message": "Too many calls, {wait}.", "retryable": true,
                "next": { "after_s": 77, "then": "retry_original" },
            })
            .to_string(),
            ["too many registrations (rate_limited): Too many calls, {wait}.", "in 77 seconds"],
        ),
        ("200 OK", "<html>sign in</html>".to_owned(), ["as a Portolan host does", "proxy"]),
        ("502 Bad Gateway", "<html></html>".to_owned(), ["status 502", "operates the host"]),
    ];
    for (status, body, parts) in refusals {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        tokio::spawn(answer_once(listener, answer));
        let script = include_str!("../../host/http/src/install/install.sh");
        let installer = Installer::new(&script.replace("{{public_url}}", &url));
        let why = tokio::task::spawn_blocking(move || installer.fails(&[])).await.unwrap();
        assert!(parts.iter().all(|part| why.contains(part)), "{status}: {why}");
    }
}

/// Reads one request and sends this answer.
async fn answer_once(listener: tokio::net::TcpListener, answer: String) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let (mut stream, _) = listener.accept().await.unwrap();
    let (mut request, mut part) = (Vec::new(), [0; 4096]);
    while !request.ends_with(b"}") {
        let read = stream.read(&mut part).await.unwrap();
        request.extend_from_slice(&part[..read]);
    }
    stream.write_all(answer.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hosts_own_address_is_quoted() {
    let folder = Options::default()
        .configuration("public_url = \"https://a.example/x';touch${IFS}spoiled;'\"\n")
        .folder();
    let host = Process::start_in(folder);
    for (path, media_type) in [
        ("/v1/install/install.sh", "text/x-shellscript; charset=utf-8"),
        ("/v1/install/install.ps1", "text/plain; charset=utf-8"),
    ] {
        let reply = host.get(path).await;
        assert_eq!(
            (reply.header("content-type"), reply.header("cache-control")),
            (media_type, "no-cache")
        );
        assert!(!reply.text.contains("{{"), "{path}");
    }
    let installer = Installer::of(&host).await;
    let output = installer.succeeds(&["--dry-run"]);
    assert!(output.contains("at https://a.example/x';touch${IFS}spoiled;'"), "{output}");
    assert!(!installer.home.path().join("spoiled").exists());
}

#[test]
fn the_script_passes_shellcheck() {
    // `cargo xtask test` installs shellcheck.
    if !is_installed("shellcheck") {
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../http/src/install/install.sh");
    let output = Command::new("shellcheck").arg(script).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn an_incomplete_script_does_nothing() {
    let script = include_str!("../../host/http/src/install/install.sh");
    let half = &script[..script.rfind("main \"$@\"").unwrap()];
    let installer = Installer::new(half);
    assert_eq!(installer.succeeds(&[]), "");
}
