//! The random numbers of one call: the same ones when the call is run again.

use crate::context::CallContext;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use std::sync::Arc;

/// The random number generator of a call. It takes its seed from the call's context when the
/// component first asks, because a call that needs none should not pay for one.
pub(super) struct CallRandom {
    context: Arc<CallContext>,
    generator: Option<StdRng>,
}

impl CallRandom {
    pub(super) fn new(context: Arc<CallContext>) -> Self {
        Self { context, generator: None }
    }

    pub(super) fn generator(&mut self) -> &mut StdRng {
        self.generator.get_or_insert_with(|| StdRng::from_seed(self.context.seed()))
    }

    /// Returns a second generator, whose seed is drawn from this generator.
    pub(super) fn fork(&mut self) -> StdRng {
        StdRng::from_seed(self.generator().random())
    }
}
