//! The relying party of WebAuthn: what the passkeys of this host belong to.

use url::Url;
use webauthn_rs::prelude::{Webauthn, WebauthnBuilder};

/// The relying party of this host's passkeys, as in WebAuthn.
#[derive(Debug)]
pub(crate) struct RelyingParty {
    /// The name of the host's address.
    pub(crate) id: String,
    pub(crate) webauthn: Webauthn,
}

impl RelyingParty {
    /// Returns the relying party of a host with this address, if passkeys can belong to the address: browsers
    /// make them for names of hosts only.
    pub(crate) fn of(public_url: &str) -> Option<Self> {
        let url = Url::parse(public_url).ok()?;
        let id = url.domain()?.to_owned();
        let webauthn = WebauthnBuilder::new(&id, &url).ok()?.rp_name("Portolan").build().ok()?;
        Some(Self { id, webauthn })
    }
}

#[cfg(test)]
mod tests {
    use super::RelyingParty;

    #[test]
    fn only_hosts_with_a_name_have_passkeys() {
        for (url, expected) in [
            ("https://portolan.example", true),
            ("http://localhost:8080", true),
            ("https://192.0.2.1", false),
            ("http://[::1]:8080", false),
        ] {
            assert_eq!(RelyingParty::of(url).is_some(), expected, "{url}");
        }
    }
}
