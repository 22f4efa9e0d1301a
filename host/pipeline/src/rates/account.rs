//! The accounts that rates are counted for.

use super::table::Factors;
use std::{net::IpAddr, sync::Arc};

/// The leading bits of an IPv4 address, and of an IPv6 address, that are one address: a client usually has a
/// whole /64 of IPv6 addresses.
const ADDRESS_BITS: (u8, u8) = (32, 64);
/// The number of leading bits that identify one network, as one site usually has it, for IPv4 and
/// IPv6.
const NETWORK_BITS: (u8, u8) = (24, 48);

/// An account, for which a rate is counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Account {
    /// An agent, a client or an owner, by its id; or a person on a page.
    Caller(Arc<str>),
    Address(Prefix),
    Network(Prefix),
}

/// The leading bits of an address; the others are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Prefix {
    address: IpAddr,
    bits: u8,
}

impl Account {
    pub(super) fn address(address: IpAddr) -> Self {
        Self::Address(Prefix::of(address, ADDRESS_BITS))
    }

    pub(super) fn network(address: IpAddr) -> Self {
        Self::Network(Prefix::of(address, NETWORK_BITS))
    }

    /// Returns the accounts of an address; none if it is unknown.
    pub(super) fn of_address(address: Option<IpAddr>) -> impl Iterator<Item = Self> {
        let accounts = address.map(|address| [Self::address(address), Self::network(address)]);
        accounts.into_iter().flatten()
    }

    /// The word for the kind of account in refusals.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Caller(_) => "caller",
            Self::Address(_) => "address",
            Self::Network(_) => "network",
        }
    }

    pub(super) const fn factor(&self, factors: Factors) -> u64 {
        match self {
            Self::Caller(_) => factors.caller,
            Self::Address(_) => factors.address,
            Self::Network(_) => factors.network,
        }
    }

    /// Returns a text that no other account has.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Caller(id) => id.to_string(),
            Self::Address(Prefix { address, bits }) | Self::Network(Prefix { address, bits }) => {
                format!("{address}/{bits}")
            }
        }
    }
}

impl Prefix {
    fn of(address: IpAddr, (v4, v6): (u8, u8)) -> Self {
        let kept = |bits: u8, of: u32| u128::MAX << (of - u32::from(bits));
        match address.to_canonical() {
            IpAddr::V4(address) => {
                let prefix = u128::from(address.to_bits()) & kept(v4, 32);
                Self { address: IpAddr::from((prefix as u32).to_be_bytes()), bits: v4 }
            }
            IpAddr::V6(address) => {
                let prefix = address.to_bits() & kept(v6, 128);
                Self { address: IpAddr::from(prefix.to_be_bytes()), bits: v6 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_client_and_of_one_site_are_one_account() {
        let account = |make: fn(IpAddr) -> Account, text: &str| make(text.parse().unwrap()).text();
        for (text, address, network) in [
            ("192.0.2.77", "192.0.2.77/32", "192.0.2.0/24"),
            ("::ffff:192.0.2.77", "192.0.2.77/32", "192.0.2.0/24"),
            ("2001:db8:1:2:3::4", "2001:db8:1:2::/64", "2001:db8:1::/48"),
        ] {
            assert_eq!(account(Account::address, text), address);
            assert_eq!(account(Account::network, text), network);
        }
    }
}
