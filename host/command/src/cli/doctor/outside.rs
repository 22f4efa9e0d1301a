//! Looks at what a host needs, while it does not run.

use super::database;
use crate::{config::Config, secret_keys::SECRET_KEYS};
use portolan_http::node::{
    Problem, check_folder, check_space,
    parts::{CATALOG, DATA_FOLDER, KEYS, LIMITS, PORTS},
};
use portolan_store::DatabaseUrl;
use portolan_vocabulary::Keyring;
use std::{
    fs, io,
    net::{SocketAddr, TcpListener},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};
use zeroize::Zeroizing;

/// The number of files that a process should be able to open.
const ENOUGH_FILES: u64 = 4096;
/// The maximum number of files of the data folder whose owners are compared.
const MAX_FILES: usize = 100;

/// Returns what would keep a host with this configuration from starting, or from serving well.
pub(super) async fn find_problems(config: &Config) -> Vec<Problem> {
    let (keys, problem) = key_names(config);
    let mut problems: Vec<_> = problem.into_iter().collect();
    problems.extend(check_folders(config));
    problems.extend(database::find_problems(config, keys.as_deref()).await);
    problems.extend(check_port("listen", config.listen));
    problems.extend(check_port("admin_listen", config.admin_listen));
    problems.extend(check_catalog(&config.catalog_dir));
    problems.extend(check_open_files());
    problems
}

fn check_folders(config: &Config) -> Vec<Problem> {
    let data = &config.data_dir;
    if !data.exists() {
        let parent = match data.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        return parent
            .exists()
            .then(|| check_folder(&parent).filter(|problem| problem.unready))
            .flatten()
            .into_iter()
            .collect();
    }
    let database = match &config.database_url {
        DatabaseUrl::Sqlite(path) => path.parent().filter(|folder| folder.is_dir()),
        DatabaseUrl::Postgres(_) => None,
    };
    let elsewhere = database.filter(|folder| *folder != data.as_path());
    let mut problems: Vec<_> =
        [check_folder(data), check_space(data), check_owners(data)].into_iter().flatten().collect();
    problems.extend(elsewhere.and_then(check_space));
    problems
}

/// Finds a file of another user than the folder's, as a command leaves that was run as root.
fn check_owners(folder: &Path) -> Option<Problem> {
    let owner = fs::metadata(folder).ok()?.uid();
    let entries = fs::read_dir(folder).ok()?.flatten().take(MAX_FILES);
    let other = entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?.uid())))
        .find(|(_, uid)| *uid != owner);
    let (path, uid) = other?;
    Some(Problem::error(
        &DATA_FOLDER,
        format!("{} belongs to user {uid}, and its folder to user {owner}", path.display()),
        format!("chown -R --reference={folder} {folder}", folder = folder.display()),
    ))
}

/// Returns the names of the secret keys, and what is wrong with them. There are none before the first start; the names
/// are `None` if the keys cannot be read.
fn key_names(config: &Config) -> (Option<Vec<String>>, Option<Problem>) {
    if let Some(keys) = &config.secret_keys {
        return (Some(keys.names()), None);
    }
    let file = config.data_dir.join(SECRET_KEYS);
    let name = file.display();
    let text = match fs::read_to_string(&file).map(Zeroizing::new) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return (Some(Vec::new()), None),
        Err(error) => {
            let fix =
                format!("let the host's user read it: chown portolan: {name} && chmod 600 {name}");
            let problem = format!("{name} cannot be read: {error}");
            return (None, Some(Problem::error(&KEYS, problem, fix)));
        }
    };
    match Keyring::parse(&text) {
        Err(fix) => (None, Some(Problem::error(&KEYS, format!("{name} cannot be used"), fix))),
        Ok(keys) => {
            let mode = fs::metadata(&file).map_or(0, |found| found.permissions().mode());
            let open = (mode & 0o077 != 0).then(|| {
                let problem = format!("others may read {name}");
                Problem::warning(&KEYS, problem, format!("chmod 600 {name}"))
            });
            (Some(keys.names()), open)
        }
    }
}

/// Checks whether the host could listen at an address.
fn check_port(setting: &str, address: SocketAddr) -> Option<Problem> {
    let error = TcpListener::bind(address).err()?;
    let port = address.port();
    let fix = match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "`ss -ltnp 'sport = :{port}'` names the program there: stop it, or set `{setting}` to another port"
        ),
        io::ErrorKind::PermissionDenied => format!(
            "set `{setting}` to a port above 1023 and put a proxy in front, or let the unit bind it: `systemctl edit portolan`, with AmbientCapabilities=CAP_NET_BIND_SERVICE, CapabilityBoundingSet=CAP_NET_BIND_SERVICE and PrivateUsers=no"
        ),
        _ => format!("set `{setting}` to an address of this machine; `ip address` lists them"),
    };
    Some(Problem::error(
        &PORTS,
        format!("nothing can listen at {address} ({setting}): {error}"),
        fix,
    ))
}

fn check_catalog(folder: &Path) -> Option<Problem> {
    let name = folder.display();
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Problem::warning(
            &CATALOG,
            format!("there is no {name}; the start creates it, empty"),
            format!("copy components there: cp /usr/share/portolan/catalog/*.wasm {name}/"),
        )),
        Err(error) => Some(Problem::error(
            &CATALOG,
            format!("{name} cannot be read: {error}"),
            format!("let the host's user read it: chown portolan: {name} && chmod u+rwx {name}"),
        )),
        Ok(mut entries) => entries.next().is_none().then(|| {
            Problem::warning(
                &CATALOG,
                format!("{name} is empty: the host would serve no capability"),
                format!("copy components there: cp /usr/share/portolan/catalog/*.wasm {name}/"),
            )
        }),
    }
}

fn check_open_files() -> Option<Problem> {
    let (_, hard) = rlimit::Resource::NOFILE.get().ok()?;
    (hard < ENOUGH_FILES).then(|| {
        Problem::warning(
            &LIMITS,
            format!("a process may open {hard} files, and each connection is one"),
            "raise the limit: LimitNOFILE=65536 in the unit, or `ulimit -Hn 65536`",
        )
    })
}
