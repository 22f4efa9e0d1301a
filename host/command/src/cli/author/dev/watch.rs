//! The changes of a project's source.

use anyhow::Context as _;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::{sync::mpsc, time::timeout};

/// The folders without source: of built files, of installed packages, and of cases.
const IGNORED_FOLDERS: [&str; 4] = ["target", "node_modules", "__pycache__", "cases"];
/// The endings of files that a build can read. A log that is written into the folder must not start a build.
const SOURCE_EXTENSIONS: [&str; 14] = [
    "rs", "toml", "js", "mjs", "cjs", "ts", "mts", "cts", "json", "py", "wit", "md", "html", "sql",
];
/// The debounce time: an editor makes several changes when it saves a file, and is finished when
/// this time passes without one.
const DEBOUNCE_TIME: Duration = Duration::from_millis(30);

pub(super) struct Source {
    changes: mpsc::UnboundedReceiver<()>,
    _watcher: RecommendedWatcher,
}

impl Source {
    pub(super) fn watch(folder: &Path) -> anyhow::Result<Self> {
        let root = folder.canonicalize()?;
        let (sender, changes) = mpsc::unbounded_channel();
        let watched_root = root.clone();
        let handler = move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            let is_source = |path: &PathBuf| is_source(&watched_root, path);
            if !event.kind.is_access() && event.paths.iter().any(is_source) {
                // An error means that the receiver was dropped.
                let _stopped = sender.send(());
            }
        };
        let mut watcher = notify::recommended_watcher(handler)?;
        let cannot_watch = || format!("cannot watch {}", folder.display());
        watcher.watch(&root, RecursiveMode::NonRecursive).with_context(cannot_watch)?;
        for entry in std::fs::read_dir(&root)?.flatten() {
            let path = entry.path();
            if path.is_dir() && is_watched(&root, &path) {
                watcher.watch(&path, RecursiveMode::Recursive).with_context(cannot_watch)?;
            }
        }
        Ok(Self { changes, _watcher: watcher })
    }

    /// Waits until the source has changed, and then until it does not change for the debounce time.
    pub(super) async fn changed(&mut self) {
        if self.changes.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
        while timeout(DEBOUNCE_TIME, self.changes.recv()).await.is_ok_and(|change| change.is_some())
        {
        }
    }
}

/// Returns whether a file is part of the source.
fn is_source(root: &Path, path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| SOURCE_EXTENSIONS.contains(&extension))
        && is_watched(root, path)
}

/// Returns whether a path of the project is outside the folders without source. Hidden files and folders are
/// not watched.
fn is_watched(root: &Path, path: &Path) -> bool {
    let Ok(relative) = path.strip_prefix(root) else { return false };
    let mut names = relative.components().map(|part| part.as_os_str().to_string_lossy());
    names.all(|name| !IGNORED_FOLDERS.contains(&&*name) && !name.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_source_is_watched() {
        let root = Path::new("/p");
        for path in ["/p/src/lib.rs", "/p/Cargo.toml", "/p/index.js"] {
            assert!(is_source(root, Path::new(path)), "{path}");
        }
        for path in [
            "/p/target/x.json",
            "/p/.portolan/build/a.mjs",
            "/p/lending.wasm",
            "/p/Cargo.lock",
            "/q/a.rs",
            "/p/out.log",
            "/p/cases/a.json",
            "/p/a.rs~",
        ] {
            assert!(!is_source(root, Path::new(path)), "{path}");
        }
    }
}
