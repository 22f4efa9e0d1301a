//! The clients of look-ups: over TLS, to public addresses and to those that the operator allows.

use crate::lookups::dns::DnsResolver;
use ipnet::IpNet;
use portolan_reach::Reach;
use reqwest::{
    Certificate, Client, Response,
    dns::{Name, Resolve, Resolving},
    header::CONTENT_TYPE,
    redirect::Policy,
};
use std::{net::SocketAddr, sync::Arc, time::Duration};

/// The parts of a client of look-ups.
pub(super) struct GuardedClient<'a> {
    pub(super) dns: &'a Arc<DnsResolver>,
    /// Ranges of private addresses that may be read.
    pub(super) allowed: &'a [IpNet],
    /// Certificate authorities in addition to those of the system.
    pub(super) trusted: &'a [Certificate],
    /// The time-out of a request, with its redirects.
    pub(super) timeout: Duration,
}

/// A resolver that uses the resolver of look-ups, and returns only addresses that may be reached.
struct GuardedResolver {
    dns: Arc<DnsResolver>,
    reach: Reach,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (dns, reach) = (Arc::clone(&self.dns), self.reach.clone());
        Box::pin(async move {
            let found = dns.addresses(name.as_str()).await?;
            let found = found.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(reach.filter(found)?)
        })
    }
}

impl GuardedClient<'_> {
    pub(super) fn build(&self, redirects: Policy) -> Result<Client, reqwest::Error> {
        // An error means that a crypto provider is installed already.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let reach = Reach::new(self.allowed, true);
        let guarded = GuardedResolver { dns: Arc::clone(self.dns), reach };
        Client::builder()
            .timeout(self.timeout)
            .redirect(redirects)
            .no_proxy()
            .https_only(true)
            .tls_certs_merge(self.trusted.iter().cloned())
            .dns_resolver(Arc::new(guarded))
            .build()
    }
}

/// Returns the media type of a response without its parameters, in lower case; empty if it has none.
pub(super) fn media_type(response: &Response) -> String {
    let declared = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = declared.unwrap_or_default().split(';').next().unwrap_or_default();
    media_type.trim().to_ascii_lowercase()
}
