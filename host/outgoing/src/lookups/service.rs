//! The service that makes look-ups.

use crate::lookups::{
    error::LookupError, names::Names, pages::Pages, request::LookupRequest,
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
    names: Arc<Names>,
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
        let names = Arc::new(Names::new(&settings.servers()));
        let pages = Pages::new(Arc::clone(&names), settings.https_port, allowed, trusted, TIMEOUT)?;
        Ok(Self { names, pages })
    }

    /// Makes a look-up and returns its texts. A page is one text.
    pub async fn answer(&self, request: &LookupRequest) -> Result<Vec<String>, LookupError> {
        match request {
            LookupRequest::Txt(name) => {
                let texts = tokio::time::timeout(TIMEOUT, self.names.texts(name)).await;
                texts.unwrap_or(Err(LookupError::NoDns))
            }
            LookupRequest::Page(url) => Ok(vec![self.pages.read(url).await?]),
        }
    }
}
