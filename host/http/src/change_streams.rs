//! The open streams of changes, of which each client has a share.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

/// The maximum number of streams at once.
const MAX_STREAMS: usize = 500;
/// The maximum number of streams of one client.
const MAX_OF_CLIENT: usize = 8;

/// The open streams.
#[derive(Debug, Default)]
pub(super) struct ChangeStreams(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    all: usize,
    of_client: HashMap<IpAddr, usize>,
}

/// An open stream. It is counted until this is dropped.
#[derive(Debug)]
pub(super) struct ChangeStream {
    streams: Arc<ChangeStreams>,
    client: Option<IpAddr>,
}

/// The reasons why another stream cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TooMany {
    All,
    OfClient,
}

impl ChangeStreams {
    /// Opens a stream. A client without an address has no share, only the maximum of all.
    pub(super) fn open(self: &Arc<Self>, client: Option<IpAddr>) -> Result<ChangeStream, TooMany> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.all >= MAX_STREAMS {
            return Err(TooMany::All);
        }
        if let Some(client) = client {
            let number = open.of_client.entry(client).or_default();
            if *number >= MAX_OF_CLIENT {
                return Err(TooMany::OfClient);
            }
            *number += 1;
        }
        open.all += 1;
        Ok(ChangeStream { streams: Arc::clone(self), client })
    }
}

impl Drop for ChangeStream {
    fn drop(&mut self) {
        let mut open = self.streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.all -= 1;
        let Some(client) = self.client else { return };
        if let Some(number) = open.of_client.get_mut(&client) {
            *number -= 1;
            if *number == 0 {
                open.of_client.remove(&client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_a_share_until_it_closes_streams() {
        let streams = Arc::new(ChangeStreams::default());
        let client = |number: u32| Some(IpAddr::from(number.to_be_bytes()));
        let mut open: Vec<_> =
            (0..MAX_OF_CLIENT).map(|_| streams.open(client(1)).unwrap()).collect();
        assert_eq!(streams.open(client(1)).unwrap_err(), TooMany::OfClient);
        open.pop();
        open.push(streams.open(client(1)).unwrap());
        for number in 2.. {
            match streams.open(client(number)) {
                Ok(stream) => open.push(stream),
                Err(too_many) => {
                    assert_eq!((too_many, open.len()), (TooMany::All, MAX_STREAMS));
                    break;
                }
            }
        }
        assert_eq!(streams.open(None).unwrap_err(), TooMany::All);
        drop(open);
        assert!(streams.open(None).is_ok());
        assert!(streams.0.lock().unwrap().of_client.is_empty());
    }
}
