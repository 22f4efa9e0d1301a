//! The service that makes look-ups.

use crate::lookups::{
    dns::DnsResolver, error::LookupError, pages::Pages, request::LookupRequest,
    settings::LookupSettings,
};
use ipnet::IpNet;
use reqwest::Certificate;
use std::{sync::Arc, time::Duration};

/// The time-out of one look-up, with all servers and redirects.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The service that makes look-ups.
#[derive(Debug)]
pub struct Lookups {
    dns: Arc<DnsResolver>,
    pages: Pages,
}

impl Lookups {
    /// Makes the resolver and the client. `allowed` are ranges of private addresses that may be read;
    /// `trusted` are certificate authorities in addition to those of the system.
    pub fn new(
        settings: &LookupSettings,
        allowed: &[IpNet],
        trusted: &[Certificate],
    ) -> Result<Self, reqwest::Error> {
        let dns = Arc::new(DnsResolver::new(&settings.server_addresses()));
        let pages = Pages::new(Arc::clone(&dns), settings.https_port, allowed, trusted, TIMEOUT)?;
        Ok(Self { dns, pages })
    }

    /// Makes a look-up and returns its texts. A page is one text, and is asked for with
    /// the header `traceparent`, if there is one.
    pub async fn look_up(
        &self,
        request: &LookupRequest,
        traceparent: Option<String>,
    ) -> Result<Vec<String>, LookupError> {
        match request {
            LookupRequest::Txt(name) => {
                let texts = tokio::time::timeout(TIMEOUT, self.dns.txt_records(name)).await;
                texts.unwrap_or(Err(LookupError::ResolverUnavailable))
            }
            LookupRequest::Page(url) => Ok(vec![self.pages.read(url, traceparent).await?]),
        }
    }
}
