//! The DNS: the TXT records of a name, and its addresses. Nothing is cached, so that a record that was
//! just published is found.

use crate::lookups::error::{LookupError, MAX_ANSWER_BYTES};
use hickory_resolver::{
    TokioResolver,
    config::{ConnectionConfig, NameServerConfig, ResolverConfig},
    net::{DnsError, NetError, runtime::TokioRuntimeProvider},
    proto::rr::{Name, RData},
};
use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

/// The time-out of one query to one server.
const TIMEOUT: Duration = Duration::from_secs(2);

pub(super) struct DnsResolver {
    /// `None` if the configuration of the system cannot be read.
    resolver: Option<TokioResolver>,
}

impl fmt::Debug for DnsResolver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DnsResolver").finish_non_exhaustive()
    }
}

impl DnsResolver {
    /// Makes a resolver that queries these servers, or those of the system if the list is empty.
    pub(super) fn new(servers: &[SocketAddr]) -> Self {
        let resolver = resolver(servers);
        if let Err(error) = &resolver {
            tracing::warn!(%error, "the system's DNS configuration cannot be read; set `lookups.dns_servers`");
        }
        Self { resolver: resolver.ok() }
    }

    fn resolver(&self) -> Result<&TokioResolver, LookupError> {
        self.resolver.as_ref().ok_or(LookupError::ResolverUnavailable)
    }

    /// Returns the TXT records of a name, each joined from its parts. A name without such records
    /// has an empty list.
    pub(super) async fn txt_records(&self, name: &str) -> Result<Vec<String>, LookupError> {
        let found = match self.resolver()?.txt_lookup(absolute(name)?).await {
            Ok(found) => found,
            Err(error) if error.is_no_records_found() => return Ok(Vec::new()),
            Err(NetError::Dns(DnsError::ResponseCode(_))) => return Err(LookupError::Refused),
            Err(_) => return Err(LookupError::ResolverUnavailable),
        };
        let texts = found.answers().iter().filter_map(|record| match &record.data {
            RData::TXT(txt) => Some(String::from_utf8_lossy(&txt.txt_data.concat()).into_owned()),
            _ => None,
        });
        let texts: Vec<String> = texts.collect();
        match texts.iter().map(String::len).sum::<usize>() > MAX_ANSWER_BYTES {
            true => Err(LookupError::RecordsTooLarge),
            false => Ok(texts),
        }
    }

    /// Returns the addresses of a name.
    pub(super) async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, LookupError> {
        let found = self.resolver()?.lookup_ip(absolute(name)?).await;
        Ok(found.map_err(|_| LookupError::Unreachable)?.iter().collect())
    }
}

/// Returns a name as absolute, so that no search domain of the system is appended.
fn absolute(name: &str) -> Result<Name, LookupError> {
    let mut name = Name::from_ascii(name).map_err(|_| LookupError::Refused)?;
    name.set_fqdn(true);
    Ok(name)
}

fn resolver(servers: &[SocketAddr]) -> Result<TokioResolver, NetError> {
    let mut builder = match servers {
        [] => TokioResolver::builder_tokio()?,
        servers => {
            let servers = servers.iter().map(name_server).collect();
            let config = ResolverConfig::from_name_servers(servers);
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        }
    };
    let options = builder.options_mut();
    options.cache_size = 0;
    options.timeout = TIMEOUT;
    options.attempts = 1;
    // The letters of a query have random case, which a forged answer would have to repeat.
    options.case_randomization = true;
    builder.build()
}

fn name_server(server: &SocketAddr) -> NameServerConfig {
    let with_port = |mut connection: ConnectionConfig| {
        connection.port = server.port();
        connection
    };
    let connections = vec![with_port(ConnectionConfig::udp()), with_port(ConnectionConfig::tcp())];
    NameServerConfig::new(server.ip(), true, connections)
}
