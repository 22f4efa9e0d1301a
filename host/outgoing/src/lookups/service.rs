//! The service that makes look-ups.

use crate::lookups::{
    dns::DnsResolver,
    error::LookupError,
    file_request::FileRequest,
    files::{FileAnswer, Files},
    guarded::GuardedClient,
    pages::Pages,
    request::LookupRequest,
    settings::LookupSettings,
};
use ipnet::IpNet;
use portolan_vocabulary::Timestamp;
use reqwest::Certificate;
use std::{sync::Arc, time::Duration};

/// The time-out of one look-up, with all servers and redirects.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The service that makes look-ups.
#[derive(Debug)]
pub struct Lookups {
    dns: Arc<DnsResolver>,
    pages: Pages,
    files: Files,
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
        let guarded = GuardedClient { dns: &dns, allowed, trusted, timeout: TIMEOUT };
        let pages = Pages::new(&guarded, settings.https_port)?;
        let files = Files::new(&guarded, settings.https_port)?;
        Ok(Self { dns, pages, files })
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

    /// Reads a file that changes, with the header `traceparent`, if there is one.
    pub async fn read_file(
        &self,
        file: &FileRequest,
        traceparent: Option<String>,
        now: Timestamp,
    ) -> FileAnswer {
        self.files.read(file, traceparent, now).await
    }
}
