//! How often programs read what capabilities publish under secret addresses.

use super::{Account, Rate, Rates};
use portolan_vocabulary::Failure;
use std::{net::IpAddr, sync::Arc};

impl Rates {
    /// Counts a read under a secret address, against the limits of anonymous agents for the reader's address, and of
    /// one such agent for the secret, whose digest this is.
    pub fn count_published(&self, address: Option<IpAddr>, digest: &str) -> Result<(), Failure> {
        let Some(counters) = &self.0 else { return Ok(()) };
        counters.count_by_address(Rate::AnonymousCalls, address)?;
        // No agent has this id.
        let secret = Account::Caller(Arc::from(format!("published {digest}")));
        counters.count(Rate::AnonymousCalls, secret).map(drop)
    }
}
