//! Savepoints: a refused nested call rolls back its own writes only.

use super::{layer::Layer, unit_of_work::Unit};

impl Unit {
    /// Opens a savepoint: later writes can be rolled back without the earlier ones.
    pub fn savepoint(&mut self) {
        self.layers.push(Layer::default());
    }

    /// Releases the last savepoint: its writes join the layer below.
    pub fn release(&mut self) {
        if self.layers.len() > 1
            && let Some(top) = self.layers.pop()
            && let Some(below) = self.layers.last_mut()
        {
            below.extend(top);
        }
    }

    /// Releases the last savepoint and keeps its writes even if the call is refused: a callee that
    /// counts attempts must not lose count because its caller refuses.
    pub fn release_and_keep(&mut self) {
        if let Some(top) = self.layers.last().filter(|top| !top.is_empty()) {
            // The writes may need what was stored below the savepoint, too.
            let guards = self.layers.iter().flat_map(|layer| layer.guards.iter().cloned());
            let kept = Layer { guards: guards.collect(), ..top.clone() };
            self.kept.extend(kept);
        }
        self.release();
    }

    /// Rolls back the writes since the last savepoint.
    pub fn rollback(&mut self) {
        if self.layers.len() > 1 {
            self.layers.pop();
        }
    }

    /// Returns a unit of work with only the writes and the audit records that are committed even if the call
    /// is refused.
    pub fn remainder(&self) -> Self {
        let mut remainder = Self::new(self.store.clone(), self.now);
        if !self.kept.is_empty() {
            remainder.reads.clone_from(&self.reads);
            remainder.holders.clone_from(&self.holders);
            remainder.layers = vec![self.kept.clone()];
        }
        remainder.audit.clone_from(&self.kept_audit);
        remainder
    }

    /// Discards every write, also those that are committed even if the call is refused.
    pub fn discard_all(&mut self) {
        self.kept = Layer::default();
        self.kept_audit.clear();
        self.discard();
    }

    /// Discards every write but those that are committed even if the call is refused. The read set stays,
    /// because it is still validated.
    pub fn discard(&mut self) {
        self.audit = std::mem::take(&mut self.kept_audit);
        self.layers = vec![std::mem::take(&mut self.kept)];
    }
}
