//! The host that a case runs on: the real one without its addresses, with a database of its own and a stopped
//! clock.

use super::{
    case::{Case, ID_MEMBER},
    files::CaseLocation,
    hints::Hints,
    steps::{Step, Steps},
    stubs::Stubs,
    verdict::{self, Verdict},
};
use crate::{
    cli::{cache, check::read_component},
    config::{Config, publisher_key},
    startup::{HostParts, open_pipeline},
};
use anyhow::Context as _;
use portolan_catalog::{Capability, Inspection, Permission, Trust, inspect};
use portolan_http::StartProgress;
use portolan_pipeline::{Host, TestCall, TestCallOutcome};
use portolan_sandbox::{Backtraces, ImportKind, Sandbox, SandboxOptions};
use portolan_vocabulary::{Access, Clock, Limits, Timestamp, new_identifier};
use serde_json::{Map, Value};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};
use tempfile::TempDir;
use tokio::sync::watch;

/// The maximum number of compiled components that are kept for later runs.
const KEPT_ARTIFACTS: usize = 64;
/// The run time of one call. It is larger than a host's, because other programs keep the machine of an author
/// busy. The fuel of a call is the host's, so a loop without an end is still reported.
const CALL_WALL_TIME_MS: u64 = 30_000;
/// The interval at which the status of the catalog is read while the component is loaded.
const STATUS_INTERVAL: Duration = Duration::from_millis(20);
/// The file of the component in the catalog of a case.
const FILE: &str = "tested.wasm";

/// A component that a host would load, and the data with which a host is opened for each case.
#[derive(Debug)]
pub(super) struct CaseRunner {
    sandbox: Arc<Sandbox>,
    component: PathBuf,
    id: String,
    internal_actions: BTreeSet<String>,
    collections: Vec<String>,
    permissions: BTreeSet<Permission>,
    pub(super) hints: Hints,
    steps: Steps,
}

/// An open host, with the folder and the stop signal that it needs.
struct TestHost {
    host: Arc<Host>,
    stop: watch::Sender<bool>,
    _folder: TempDir,
}

impl CaseRunner {
    /// Inspects the component. The inner error says why a host would refuse it.
    pub(super) async fn open(component: &Path) -> anyhow::Result<Result<Self, Box<Inspection>>> {
        let bytes = read_component(component)?;
        let artifacts = cache::folder()?.join("artifacts");
        let sandbox = Arc::new(Sandbox::new(SandboxOptions {
            limits: Limits { call_wall_time_ms: CALL_WALL_TIME_MS, ..Limits::default() },
            artifacts: artifacts.clone(),
            compiler: std::env::current_exe()?,
            backtraces: Backtraces::Source,
            compile_cache: cache::compile_cache(),
        })?);
        remove_old_artifacts(&artifacts);
        let trust = Trust { host: publisher_key(), ..Trust::default() };
        let inspection = inspect(&sandbox, &trust, FILE, bytes).await;
        let Ok(capability) = &inspection.capability else { return Ok(Err(Box::new(inspection))) };
        let internal_actions = capability
            .actions
            .iter()
            .filter(|action| action.descriptor.access == Access::Internal)
            .map(|action| action.descriptor.name.clone());
        let collections = capability.descriptor.collections.iter();
        Ok(Ok(Self {
            component: component.to_owned(),
            id: capability.id.to_string(),
            internal_actions: internal_actions.collect(),
            collections: collections.map(|collection| collection.name.clone()).collect(),
            permissions: permissions(capability),
            hints: Hints::of(capability),
            steps: Steps::of(capability),
            sandbox,
        }))
    }

    /// Runs a case.
    pub(super) async fn run(&self, location: CaseLocation, case: &Case) -> anyhow::Result<Verdict> {
        let started = Instant::now();
        let test_host = self.open_host(case.time()).await?;
        let host = &test_host.host;
        let test_mode = case.test_mode();
        let context = |part: &str| format!("{location}: the case {:?}: {part}", case.name);
        for (collection, documents) in &case.before {
            let documents: Vec<_> = documents.iter().enumerate().map(stored_document).collect();
            let stored = host.put_documents((&self.id, test_mode), collection, &documents).await;
            stored.with_context(|| context(&format!("before.{collection}")))?;
        }
        let stubs = Arc::new(Stubs::new(case.calls.clone()));
        let test_call = TestCall {
            capability: &self.id,
            caller: case.caller(self.internal_actions.contains(&case.action)),
            action: &case.action,
            input: case.input.clone(),
            idempotency_key: case.idempotency_key.clone(),
            seed: case.seed(),
            stubs: Arc::<Stubs>::clone(&stubs),
        };
        let TestCallOutcome { outcome, effects } = host.run_test_call(test_call).await;
        // The tasks of the host are stopped before its database is closed and its folder is removed. An error
        // means that none is left.
        let _sent = test_host.stop.send(true);
        let after = self.documents(host, test_mode).await?;
        let actual = verdict::actual_parts(outcome, &effects, after);
        let mut differences = verdict::differences(case, &actual);
        differences.extend(stubs.differences());
        let mut foreign_step = None;
        match self.steps.check(&actual) {
            Some(Step::Fault(fault)) => differences.push(fault),
            Some(Step::Foreign(capability)) => foreign_step = Some(capability),
            None => {}
        }
        host.store.close().await;
        let (name, time) = (case.name.clone(), started.elapsed());
        Ok(Verdict { name, location, actual, differences, foreign_step, time })
    }

    async fn open_host(&self, at: Timestamp) -> anyhow::Result<TestHost> {
        let folder = tempfile::tempdir()?;
        let catalog = folder.path().join("catalog");
        fs::create_dir(&catalog)?;
        let file = catalog.join(FILE);
        if fs::hard_link(&self.component, &file).is_err() {
            fs::copy(&self.component, &file)?;
        }
        let mut config = Config::for_tests(folder.path().join("data"), catalog)?;
        config.grants.0.insert(self.id.clone(), self.permissions.clone());
        let (sender, stop) = watch::channel(false);
        let parts = HostParts {
            public_url: "http://portolan.test".to_owned(),
            admin_port: config.admin_listen.port(),
            clock: Clock::fixed_at(at),
            sandbox: Arc::clone(&self.sandbox),
            trusted: Vec::new(),
            stop,
            progress: StartProgress::new(at),
        };
        let host = open_pipeline(&config, parts).await?;
        // On a busy machine the host serves before it has compiled the component again, if another process
        // removed its artifact.
        let status = loop {
            let status = host.catalog.status();
            if !status.loaded.is_empty() || !status.refused.is_empty() {
                break status;
            }
            tokio::time::sleep(STATUS_INTERVAL).await;
        };
        if let Some(refused) = status.refused.first() {
            anyhow::bail!(
                "the component is refused: {}; to fix it: {}",
                refused.message,
                refused.fix
            );
        }
        Ok(TestHost { host, stop: sender, _folder: folder })
    }

    /// Returns the documents of every collection.
    async fn documents(&self, host: &Host, test_mode: bool) -> anyhow::Result<Map<String, Value>> {
        let mut all = Map::new();
        for collection in &self.collections {
            let documents = host.documents((&self.id, test_mode), collection).await?;
            all.insert(collection.clone(), documents.into_iter().map(verdict::document).collect());
        }
        Ok(all)
    }
}

/// Returns the id and the body of a document of a case. A document without an id gets one that is made from
/// its position.
fn stored_document((index, document): (usize, &Map<String, Value>)) -> (String, String) {
    let mut body = document.clone();
    let id = match body.shift_remove(ID_MEMBER) {
        Some(Value::String(id)) => id,
        _ => new_identifier("doc", Timestamp::from_millis(0), index as u128),
    };
    (id, Value::Object(body).to_string())
}

/// Returns all permissions that the component needs, so that a test grants them. Nested calls need
/// none, because the case has their answers.
fn permissions(capability: &Capability) -> BTreeSet<Permission> {
    let imports = capability.prepared.imports().iter();
    let interfaces = imports.filter_map(|import| match import.kind {
        ImportKind::Sensitive(grant) => Some(Permission::Interface(grant)),
        _ => None,
    });
    let subscriptions = capability.descriptor.subscriptions.iter();
    let subscribed =
        subscriptions.map(|subscription| Permission::Subscribe(subscription.event_type.clone()));
    interfaces.chain(subscribed).collect()
}

/// Removes all compiled components but the newest `KEPT_ARTIFACTS`. Errors are ignored.
fn remove_old_artifacts(artifacts: &Path) {
    let entries = fs::read_dir(artifacts).into_iter().flatten().flatten();
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort();
    let excess = files.len().saturating_sub(KEPT_ARTIFACTS);
    for (_, path) in files.into_iter().take(excess) {
        let _removed = fs::remove_file(path);
    }
}
