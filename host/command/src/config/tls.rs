//! The certificate of the address for agents.

use portolan_http::{Tls, TlsFiles};

/// Loads the certificate. Adds a fault if it cannot be used, or does not fit the public address.
pub(super) fn check(
    files: TlsFiles,
    public_url: Option<&str>,
    faults: &mut Vec<String>,
) -> Option<Tls> {
    if !public_url.is_some_and(|url| url.starts_with("https://")) {
        faults.push(
            "public_url does not begin with https://, but [tls] is set: write https:// and a name of the certificate"
                .to_owned(),
        );
    }
    Tls::load(files).map_err(|fault| faults.push(fault)).ok()
}
