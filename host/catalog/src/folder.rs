//! The catalog folder: what is in it, and word of its changes.

use crate::file::{Fingerprint, is_component_name};
use notify::{
    EventKind, RecommendedWatcher, RecursiveMode, Watcher as _,
    event::{ModifyKind, RenameMode},
};
use std::{collections::BTreeMap, path::Path};
use tokio::sync::mpsc;

/// Tells of every change in the folder; names the file if it was renamed into place. Without it,
/// the folder is looked at every two seconds.
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
        // The keeper may have stopped.
        let _stopped = changed.send(name.unwrap_or_default().to_owned());
    };
    let watching = notify::recommended_watcher(handler).and_then(|mut watcher| {
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    watching
        .inspect_err(|error| tracing::warn!(%error, "changes of the catalog folder are not told; looking every two seconds"))
        .ok()
}

/// The component files of the folder. One that vanishes meanwhile is left out.
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
            // Of what a link leads to, or of the link itself if that is nothing.
            let metadata = std::fs::metadata(entry.path()).or_else(|_| entry.metadata());
            if let Ok(metadata) = metadata {
                found.insert(name, Fingerprint::of(&metadata));
            }
        }
        Ok(found)
    });
    listed.await.map_err(std::io::Error::other)?
}
