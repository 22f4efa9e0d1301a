//! A PostgreSQL server of the tests' own: made with the system's `initdb` and `postgres`, on a free
//! port, in a temporary folder, as a user that is not root. It ends with the test process.

use sqlx::{Connection as _, PgConnection, postgres::PgConnectOptions};
use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

/// A shell script that runs the server, and kills and starts it again as its standard input says.
/// The input closes however the test process ends; the script then stops the server and removes its
/// folder.
const KEEPER: &str = r#"
start() {
    "$1/postgres" -D "$2/data" >>"$2/log" 2>&1 &
    server=$!
}
start "$@"
echo done
while read -r order; do
    case $order in
    kill)
        children=$(cat /proc/$server/task/$server/children)
        # A child may end by itself in between.
        kill -KILL $server $children 2>/dev/null
        wait $server 2>/dev/null
        # A server that starts refuses to use the memory of children that still run.
        for child in $children; do
            while [ -d "/proc/$child" ]; do sleep 0.01; done
        done
        ;;
    start) start "$@" ;;
    esac
    echo done
done
kill -INT $server 2>/dev/null
wait $server
rm -rf "$2"
"#;

/// A server with a folder and a port of its own.
pub struct Server {
    /// `postgres://…@127.0.0.1:PORT/`.
    url: String,
    keeper: Child,
}

/// Creates an empty database in the server that tests share, and returns its URL.
pub async fn database() -> String {
    static SERVER: OnceLock<Server> = OnceLock::new();
    let server = || SERVER.get_or_init(|| Server::start(300));
    tokio::task::spawn_blocking(server).await.unwrap().database().await
}

impl Server {
    /// Starts a server that accepts this number of connections.
    pub fn start(connections: u32) -> Self {
        let programs = programs();
        let folder =
            tempfile::Builder::new().prefix("portolan-postgres-").tempdir().unwrap().keep();
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
            "\nlisten_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = ''\nmax_connections = {connections}\n"
        );
        let file = folder.join("data/postgresql.conf");
        let before = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, before + &settings).unwrap();
        let keeper = command(Path::new("/bin/sh"))
            .args(["-c", KEEPER, "keeper"])
            .args([&programs, &folder])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let url = format!("postgres://portolan@127.0.0.1:{port}/");
        let mut server = Self { url, keeper };
        server.wait_until_done();
        server
    }

    /// Creates an empty database and returns its URL.
    pub async fn database(&self) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let mut connection = connect(&format!("{}postgres", self.url)).await;
        let create = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name} TEMPLATE template0"));
        sqlx::query(create).execute(&mut connection).await.unwrap();
        format!("{}{name}", self.url)
    }

    /// Kills all processes of the server, as a power loss does.
    pub fn kill(&mut self) {
        self.send_command("kill\n");
    }

    pub fn start_again(&mut self) {
        self.send_command("start\n");
    }

    /// Waits until the server accepts connections.
    pub async fn ready(&self) {
        connect(&format!("{}postgres", self.url)).await;
    }

    fn send_command(&mut self, order: &str) {
        self.keeper.stdin.as_mut().unwrap().write_all(order.as_bytes()).unwrap();
        self.wait_until_done();
    }

    fn wait_until_done(&mut self) {
        let mut said = [0; "done\n".len()];
        self.keeper.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
    }
}

/// Connects as soon as the server accepts connections.
pub async fn connect(url: &str) -> PgConnection {
    let started = Instant::now();
    // A pooler refuses this setting.
    let options: PgConnectOptions = url.parse().unwrap();
    let options = options.extra_float_digits(None);
    loop {
        match PgConnection::connect_with(&options).await {
            Ok(connection) => return connection,
            Err(error) if started.elapsed() > super::PATIENCE => panic!("{error}"),
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
        }
    }
}

/// Returns the content of a database, as `pg_dump` writes it.
pub fn dump(url: &str) -> Vec<u8> {
    let output = Command::new(programs().join("pg_dump")).arg(url).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

const PROGRAMS: [&str; 3] = ["initdb", "pg_dump", "postgres"];

/// Returns the folder of PostgreSQL's programs: on Debian it is outside the PATH,
/// one for each version.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders = versions.map(|version| version.path().join("bin"));
    let searched = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<_> = std::env::split_paths(&searched)
        .chain(folders)
        .filter(|folder| PROGRAMS.iter().all(|program| folder.join(program).exists()))
        .collect();
    found.sort();
    found.pop().unwrap_or_else(|| panic!("install PostgreSQL 15 or newer, or run cargo xtask test"))
}

/// Returns whether the tests run as root, as whom servers refuse to run.
pub fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().any(|line| line.starts_with("Uid:\t0\t"))
}
