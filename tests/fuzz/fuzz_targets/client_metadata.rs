//! Metadata of OAuth clients, which anybody may register.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portolan_identity::{AUTH_METHODS, ClientMetadata, GRANTS, RedirectHosts, granted_scopes};
use portolan_vocabulary::SCOPES;
use url::Url;

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

fuzz_target!(|data: &[u8]| {
    let hosts = ["app.example", "editor://sign-in"].map(str::to_owned).to_vec();
    let hosts = RedirectHosts::new(hosts);
    if let Ok(text) = std::str::from_utf8(data) {
        let granted = granted_scopes(Some(text), "svc.read svc.write");
        let is_allowed = |scope: &str| ["svc.read", "svc.write"].contains(&scope);
        assert!(granted.is_err() || granted.is_ok_and(|scopes| scopes.split(' ').all(is_allowed)));
    }
    let Ok(metadata) = ClientMetadata::parse(data, &hosts) else { return };
    assert!(metadata.grant_types.iter().all(|grant| GRANTS.contains(&grant.as_str())));
    assert!(AUTH_METHODS.contains(&metadata.token_endpoint_auth_method.as_str()));
    assert!(metadata.scope.split(' ').all(|scope| SCOPES.contains(&scope)));
    for uri in &metadata.redirect_uris {
        let url = Url::parse(uri).unwrap();
        let host = url.host_str().unwrap_or_default();
        let is_allowed = match url.scheme() {
            "http" => LOOPBACK.contains(&host),
            "https" => LOOPBACK.contains(&host) || host == "app.example",
            scheme => scheme == "editor" && host.eq_ignore_ascii_case("sign-in"),
        };
        assert!(is_allowed, "{uri}");
    }
    // The client could register the stored and shown metadata again.
    let shown = serde_json::to_vec(&metadata).unwrap();
    let again = ClientMetadata::parse(&shown, &hosts).unwrap();
    assert_eq!(serde_json::to_vec(&again).unwrap(), shown);
});
