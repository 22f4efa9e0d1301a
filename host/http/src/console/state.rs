//! The state that the handlers of the console share.

use super::{api::Api, session::Sessions};
use crate::{App, operator_routes::OperatorRoute};
use axum::Router;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The maximum number of open live pages. The operator's address has more connections than that.
const MAX_LIVE: usize = 24;

pub(super) struct Console {
    pub(super) app: Arc<App>,
    pub(super) api: Api,
    pub(super) sessions: Sessions,
    /// The places of live pages.
    pub(super) live: Arc<Semaphore>,
}

impl Console {
    pub(super) fn new(app: Arc<App>, api: Router, table: Vec<OperatorRoute>) -> Self {
        Self {
            app,
            api: Api::new(api, table),
            sessions: Sessions::default(),
            live: Arc::new(Semaphore::new(MAX_LIVE)),
        }
    }
}
