//! Listens on both addresses until told to stop, then drains.

use crate::http::{App, admin_router, router};
use axum::Router;
use std::{future::Future, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{net::TcpListener, sync::watch};

/// Two open sockets.
#[derive(Debug)]
pub struct Listening {
    pub public: TcpListener,
    pub admin: TcpListener,
}

impl Listening {
    pub async fn open(public: SocketAddr, admin: SocketAddr) -> anyhow::Result<Self> {
        let open = |address: SocketAddr, name: &'static str| async move {
            TcpListener::bind(address).await.map_err(|error| {
                anyhow::anyhow!(
                    "cannot listen on {address}: {error}; choose another address with --{name}"
                )
            })
        };
        Ok(Self {
            public: open(public, "listen").await?,
            admin: open(admin, "admin-listen").await?,
        })
    }
}

/// Answers requests until `stop` is told; then accepts no more and gives those in flight `drain`.
pub async fn serve(
    listening: Listening,
    app: Arc<App>,
    stop: watch::Receiver<bool>,
    drain: Duration,
) -> anyhow::Result<()> {
    let told = |mut stop: watch::Receiver<bool>| async move {
        // The sender goes away only when the process ends.
        let _ended = stop.wait_for(|stopping| *stopping).await;
    };
    let public = run(listening.public, router(Arc::clone(&app), Router::new()), told(stop.clone()));
    let admin = run(listening.admin, admin_router(app), told(stop.clone()));
    let both = async { tokio::try_join!(public, admin) };
    let deadline = async {
        told(stop).await;
        tokio::time::sleep(drain).await;
    };
    tokio::select! {
        ended = both => { ended?; }
        () = deadline => tracing::warn!("calls were still in flight at the end of the drain time"),
    }
    Ok(())
}

async fn run(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, service).with_graceful_shutdown(stop).await
}
