//! The DNS: texts of a name, and the addresses behind it. Nothing is remembered, so that whoever has
//! just published something is not told what was there before.

use crate::lookups::{LookupError, MOST_BYTES};
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

/// For one question to one server.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) struct Names {
    /// None if the system does not say which servers to ask.
    resolver: Option<TokioResolver>,
}

impl fmt::Debug for Names {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Names").finish_non_exhaustive()
    }
}

impl Names {
    /// Asks these servers, or those of the system if there are none.
    pub(super) fn new(servers: &[SocketAddr]) -> Self {
        let resolver = resolver(servers);
        if let Err(error) = &resolver {
            tracing::warn!(%error, "the DNS cannot be asked; name servers in `lookups.dns_servers`");
        }
        Self { resolver: resolver.ok() }
    }

    fn resolver(&self) -> Result<&TokioResolver, LookupError> {
        self.resolver.as_ref().ok_or(LookupError::NoDns)
    }

    /// The texts of a name, each put together from its parts.
    pub(super) async fn texts(&self, name: &str) -> Result<Vec<String>, LookupError> {
        let found = match self.resolver()?.txt_lookup(whole(name)?).await {
            Ok(found) => found,
            Err(error) if error.is_no_records_found() => return Ok(Vec::new()),
            Err(NetError::Dns(DnsError::ResponseCode(_))) => return Err(LookupError::Refused),
            Err(_) => return Err(LookupError::NoDns),
        };
        let texts = found.answers().iter().filter_map(|record| match &record.data {
            RData::TXT(txt) => Some(String::from_utf8_lossy(&txt.txt_data.concat()).into_owned()),
            _ => None,
        });
        let texts: Vec<String> = texts.collect();
        match texts.iter().map(String::len).sum::<usize>() > MOST_BYTES {
            true => Err(LookupError::TextsTooLarge),
            false => Ok(texts),
        }
    }

    pub(super) async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, LookupError> {
        let found = self.resolver()?.lookup_ip(whole(name)?).await;
        Ok(found.map_err(|_| LookupError::Away)?.iter().collect())
    }
}

/// The name itself, and nothing that the system would put behind it.
fn whole(name: &str) -> Result<Name, LookupError> {
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
    options.timeout = PATIENCE;
    options.attempts = 1;
    // Whoever forges an answer must know the case of the question's letters.
    options.case_randomization = true;
    builder.build()
}

fn name_server(server: &SocketAddr) -> NameServerConfig {
    let at = |mut connection: ConnectionConfig| {
        connection.port = server.port();
        connection
    };
    let connections = vec![at(ConnectionConfig::udp()), at(ConnectionConfig::tcp())];
    NameServerConfig::new(server.ip(), true, connections)
}
