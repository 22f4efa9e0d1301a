//! A PostgreSQL of the tests' own: from the system's `initdb` and `postgres`, on a free port, in a
//! temporary folder, as a user that is not root. It ends with the test process.

use sqlx::{Connection as _, PgConnection};
use std::{
    io::Read as _,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

/// Waits until its standard input closes, however the test process ends, and then ends the server
/// and removes its folder.
const KEEPER: &str = r#"
"$1/postgres" -D "$2/data" >"$2/log" 2>&1 &
server=$!
echo started
read -r _
kill -INT $server
wait $server
rm -rf "$2"
"#;

struct Server {
    /// `postgres://…@127.0.0.1:PORT/`.
    url: String,
    _keeper: Child,
}

/// The URL of a new, empty database.
pub async fn database() -> String {
    static SERVER: OnceLock<Server> = OnceLock::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let server = tokio::task::spawn_blocking(|| SERVER.get_or_init(start)).await.unwrap();
    let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let mut connection = connect(&format!("{}postgres", server.url)).await;
    let create = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name} TEMPLATE template0"));
    sqlx::query(create).execute(&mut connection).await.unwrap();
    format!("{}{name}", server.url)
}

async fn connect(url: &str) -> PgConnection {
    let started = Instant::now();
    loop {
        match PgConnection::connect(url).await {
            Ok(connection) => return connection,
            Err(error) if started.elapsed() > super::PATIENCE => panic!("{error}"),
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
        }
    }
}

fn start() -> Server {
    let programs = programs();
    let folder = tempfile::Builder::new().prefix("portolan-postgres-").tempdir().unwrap().keep();
    let root = is_root();
    if root {
        // PostgreSQL refuses to run as root.
        let owned = Command::new("chown").arg("nobody").arg(&folder).status().unwrap();
        assert!(owned.success());
    }
    let command = |program: &Path| {
        let mut command = match root {
            true => Command::new("setpriv"),
            false => Command::new(program),
        };
        if root {
            command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(program);
        }
        command
    };
    let initialized = command(&programs.join("initdb"))
        .args(["--auth=trust", "--username=portolan", "--encoding=UTF8", "--no-sync", "-D"])
        .arg(folder.join("data"))
        .output()
        .unwrap();
    assert!(initialized.status.success(), "{}", String::from_utf8_lossy(&initialized.stderr));
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let settings = format!(
        "\nlisten_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = ''\nmax_connections = 300\n"
    );
    let file = folder.join("data/postgresql.conf");
    let before = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, before + &settings).unwrap();
    let mut keeper = command(Path::new("/bin/sh"))
        .args(["-c", KEEPER, "keeper"])
        .args([&programs, &folder])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = [0; 7];
    keeper.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
    Server { url: format!("postgres://portolan@127.0.0.1:{port}/"), _keeper: keeper }
}

/// The folder of `initdb` and `postgres`: on Debian outside the search path, one for each version.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders = versions.map(|version| version.path().join("bin"));
    let searched = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<_> = std::env::split_paths(&searched)
        .chain(folders)
        .filter(|folder| folder.join("initdb").exists())
        .collect();
    found.sort();
    found.pop().unwrap_or_else(|| panic!("install PostgreSQL 15 or newer, or run cargo xtask test"))
}

fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().any(|line| line.starts_with("Uid:\t0\t"))
}
