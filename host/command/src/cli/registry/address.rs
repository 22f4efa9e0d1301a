//! The address of a component in an OCI registry.

use oci_client::Reference;
use std::{fmt, net::IpAddr, str::FromStr};

/// `oci://REGISTRY/NAME`, with `:TAG`, `@DIGEST` or neither, which means the tag `latest`.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Address(Reference);

/// The fix for an address that cannot be parsed.
const ADDRESS_FIX: &str = "write oci://, the registry's host, and a name with a tag or a digest, such as oci://images.example.com/tools/weather:1.2.0";

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = |reason: &str| format!("{reason}; {ADDRESS_FIX}");
        let rest = text.strip_prefix("oci://").ok_or_else(|| error("it has no oci://"))?;
        // Without a host, the parser would take the default registry, which the user has not named.
        let host = rest.split_once('/').map(|(host, _)| host).unwrap_or_default();
        if !(host == "localhost" || host.contains(['.', ':'])) {
            return Err(error("it names no registry"));
        }
        if host.contains('@') {
            return Err(error("it has a user name; give that with --username"));
        }
        rest.parse().map(Self).map_err(|cause| error(&format!("{cause}")))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "oci://{}", self.0.whole())
    }
}

impl Address {
    pub(super) fn reference(&self) -> &Reference {
        &self.0
    }

    /// Returns the host, with its port.
    pub(super) fn registry(&self) -> &str {
        self.0.registry()
    }

    pub(super) fn tag(&self) -> Option<&str> {
        self.0.tag().filter(|_| self.0.digest().is_none())
    }

    /// Returns the address with this digest in place of the tag, so that it always names the same
    /// content.
    pub(super) fn pinned(&self, digest: &str) -> String {
        format!("oci://{}/{}@{digest}", self.registry(), self.0.repository())
    }

    /// Returns the name of the component's file: the last part of the address's name, with `.wasm`.
    pub(super) fn file_name(&self) -> String {
        let last = self.0.repository().rsplit('/').next().unwrap_or_default();
        format!("{last}.wasm")
    }

    /// Returns whether the registry is on this machine.
    pub(super) fn is_loopback(&self) -> bool {
        let host = match self.registry().rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => self.registry(),
        };
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_registry() {
        let address: Address = "oci://images.example.com/tools/weather:1.2.0".parse().unwrap();
        assert_eq!(address.registry(), "images.example.com");
        assert_eq!(address.file_name(), "weather.wasm");
        assert_eq!(address.tag(), Some("1.2.0"));
        assert_eq!(address.pinned("sha256:ab"), "oci://images.example.com/tools/weather@sha256:ab");
        for text in [
            "weather:1.2.0",
            "oci://weather:1.2.0",
            "oci://",
            "oci://a@b.example/x",
            "oci://h.example/",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_registries_on_this_machine_are_loopback() {
        for (host, expected) in [
            ("127.0.0.1:5000", true),
            ("localhost:5000", true),
            ("localhost", true),
            ("127.0.0.1.attacker.example", false),
            ("localhost.example:80", false),
            ("10.0.0.1:5000", false),
        ] {
            let address: Address = format!("oci://{host}/weather:1").parse().unwrap();
            assert_eq!(address.is_loopback(), expected, "{host}");
        }
    }
}
