//! The random numbers of one call: the same ones when the call is run again.

use crate::context::CallContext;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// The random number generators of a call: one for what the component asks for, and one for what the host itself
/// draws, such as the ids of events. So the component gets the same numbers in a replay, where the host draws fewer.
///
/// They take their seeds from the call's context when they are first used, because a call that needs none should not
/// pay for one.
pub(super) struct CallRandom {
    context: Arc<CallContext>,
    generator: Option<StdRng>,
    host: Option<StdRng>,
}

impl CallRandom {
    pub(super) fn new(context: Arc<CallContext>) -> Self {
        Self { context, generator: None, host: None }
    }

    /// Returns the generator of what the component asks for.
    pub(super) fn generator(&mut self) -> &mut StdRng {
        self.generator.get_or_insert_with(|| StdRng::from_seed(self.context.seed()))
    }

    /// Returns the generator of what the host draws.
    pub(super) fn host(&mut self) -> &mut StdRng {
        self.host.get_or_insert_with(|| {
            let seed = self.context.seed();
            StdRng::from_seed(Sha256::digest([b"host".as_slice(), &seed].concat()).into())
        })
    }

    /// Returns a second generator, whose seed is drawn from the component's generator.
    pub(super) fn fork(&mut self) -> StdRng {
        StdRng::from_seed(self.generator().random())
    }
}
