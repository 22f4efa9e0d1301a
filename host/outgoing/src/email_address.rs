//! The email address of a person.

use lettre::Address;
use std::fmt;
use url::Host;

/// The maximum number of bytes of an address (RFC 5321, section 4.5.3.1).
const BYTES: usize = 254;

/// An address in ASCII: a domain in another script is written in its encoded form (RFC 5890).
#[derive(Clone, PartialEq, Eq)]
pub struct EmailAddress(Address);

/// The reasons why a text cannot be used as an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    #[error("This is not an email address. Write it like name@example.com.")]
    Form,
    #[error(
        "The part before the @ has letters that many mail servers do not take. Use an address without accents, quotes and spaces there."
    )]
    Local,
    #[error(
        "The part after the @ is not the name of a mail domain. Write it like name@example.com."
    )]
    Domain,
}

impl EmailAddress {
    /// Parses the address that a person has entered.
    pub fn parse(text: &str) -> Result<Self, AddressFault> {
        let text = text.trim();
        let (local, domain) = text.rsplit_once('@').ok_or(AddressFault::Form)?;
        let is_list = local.contains([' ', '@', '\\', '<', '>', '(', ')', ',']);
        if text.len() > BYTES || is_list || text.chars().any(char::is_control) {
            return Err(AddressFault::Form);
        }
        if !local.is_ascii() || local.contains('"') {
            return Err(AddressFault::Local);
        }
        let Ok(Host::Domain(domain)) = Host::parse(domain) else {
            return Err(AddressFault::Domain);
        };
        if !domain.contains('.') || domain.ends_with('.') {
            return Err(AddressFault::Domain);
        }
        let address = Address::new(local, domain).map_err(|_| AddressFault::Form)?;
        let address = Self(address);
        match address.as_str().len() > BYTES {
            true => Err(AddressFault::Form),
            false => Ok(address),
        }
    }

    pub(crate) const fn inner(&self) -> &Address {
        &self.0
    }

    pub fn as_str(&self) -> &str {
        self.0.as_ref()
    }

    /// Returns the mailbox, to which most mail servers also deliver `name+anything@…` and any case.
    pub fn mailbox(&self) -> String {
        let name = self.0.user().split('+').next().unwrap_or_default();
        format!("{name}@{}", self.0.domain()).to_lowercase()
    }

    /// Returns the address with most of it hidden, such as `a•••@example.com`.
    pub fn masked(&self) -> String {
        let first: String = self.0.user().chars().take(1).collect();
        format!("{first}•••@{}", self.0.domain())
    }
}

impl fmt::Debug for EmailAddress {
    /// Leaves out most of the address, which must not be logged.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.masked())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_domains_of_other_scripts_encoded() {
        for (text, read) in [
            (" ada.lovelace+notes@Example.COM ", "ada.lovelace+notes@example.com"),
            ("ada@bücher.example", "ada@xn--bcher-kva.example"),
            ("o'neil@mail.example.org", "o'neil@mail.example.org"),
        ] {
            assert_eq!(EmailAddress::parse(text).unwrap().as_str(), read);
        }
        assert_eq!(EmailAddress::parse("ada@example.com").unwrap().masked(), "a•••@example.com");
    }

    #[test]
    fn variants_of_an_address_are_one_mailbox() {
        for text in
            ["ada@example.com", "ADA@Example.com", "Ada+1@example.com", "ada+a+b@example.com"]
        {
            assert_eq!(EmailAddress::parse(text).unwrap().mailbox(), "ada@example.com", "{text}");
        }
    }

    #[test]
    fn every_other_text_is_refused() {
        let long = format!("{}@example.com", "a".repeat(65));
        let longer = format!("ada@{}.com", "a.".repeat(130));
        for text in [
            "",
            "ada",
            "@example.com",
            "ada@",
            "ada@localhost",
            "ada@[127.0.0.1]",
            "ada@127.0.0.1",
            "ada@example.com\r\nBcc: eve@example.com",
            "ada\n@example.com",
            "\"a b\"@example.com",
            "ada@example.com, eve@example.com",
            "Ada <ada@example.com>",
            "ädä@example.com",
            "a..b@example.com",
            "ada@exa mple.com",
            "ada@-.com.",
            &long,
            &longer,
        ] {
            assert!(EmailAddress::parse(text).is_err(), "{text}");
        }
    }
}
