//! The catalog folder: which components it holds, and notifications of its changes.

use crate::{file::Fingerprint, file_name::is_component_name};
use notify::{
    EventKind, RecommendedWatcher, RecursiveMode, Watcher as _,
    event::{ModifyKind, RenameMode},
};
use std::{collections::BTreeMap, path::Path};
use tokio::sync::mpsc;

/// Watches the folder and sends a message for every change: the name of the file if it was renamed into
/// place, otherwise an empty text. Returns `None` if the folder cannot be watched; the keeper still reads it
/// every two seconds.
pub(super) fn watcher(
    folder: &Path,
    changed: mpsc::UnboundedSender<String>,
) -> Option<RecommendedWatcher> {
    let handler = move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        if event.kind.is_access() {
            return;
        }
        let renamed = matches!(
            event.kind,
            EventKind::Modify(ModifyKind::Name(RenameMode::To | RenameMode::Both))
        );
        let name =
            event.paths.last().filter(|_| renamed).and_then(|path| path.file_name()?.to_str());
        // An error means that the keeper has stopped.
        let _stopped = changed.send(name.unwrap_or_default().to_owned());
    };
    let watching = notify::recommended_watcher(handler).and_then(|mut watcher| {
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    watching
        .inspect_err(|error| tracing::warn!(%error, "the catalog folder cannot be watched; it is read every two seconds instead"))
        .ok()
}

/// Returns the component files of the folder. A file that is removed meanwhile is left out.
pub(super) async fn fingerprints(folder: &Path) -> std::io::Result<BTreeMap<String, Fingerprint>> {
    let folder = folder.to_owned();
    let listed = tokio::task::spawn_blocking(move || {
        let mut found = BTreeMap::new();
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if !is_component_name(&name) {
                continue;
            }
            // The metadata of a link's target, or of the link itself if it has none.
            let metadata = std::fs::metadata(entry.path()).or_else(|_| entry.metadata());
            if let Ok(metadata) = metadata {
                let fingerprint = Fingerprint::of_file(&folder, &name, &metadata);
                found.insert(name, fingerprint);
            }
        }
        Ok(found)
    });
    listed.await.map_err(std::io::Error::other)?
}
