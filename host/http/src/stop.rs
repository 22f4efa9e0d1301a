//! The steps of a stop: a host that is told to stop still takes connections for a while, so that a load balancer sees
//! in time that it is not ready.

use std::time::Duration;
use tokio::{sync::watch, time::sleep};

/// The steps of a stop, each of which becomes true once.
#[derive(Debug, Clone)]
pub struct Stop {
    /// The host is told to stop: it is not ready any more, and each answer closes its connection.
    pub told: watch::Receiver<bool>,
    /// The delay after that is over: no more connections are accepted, and no more due work is begun.
    pub closing: watch::Receiver<bool>,
}

impl Stop {
    /// Begins to watch `told`, in a task of the current runtime. A sender that is dropped stops the host too.
    pub fn after(told: watch::Receiver<bool>, delay: Duration) -> Self {
        let (close, closing) = watch::channel(false);
        let watched = told.clone();
        tokio::spawn(async move {
            is_true(watched).await;
            sleep(delay).await;
            close.send_replace(true);
        });
        Self { told, closing }
    }
}

/// Waits for a step.
pub(super) async fn is_true(mut step: watch::Receiver<bool>) {
    // An error means that the sender was dropped.
    let _ended = step.wait_for(|is_reached| *is_reached).await;
}
