//! The memory limit of one call, summed over every memory and table of its sandbox.

use wasmtime::ResourceLimiter;

/// The number of bytes that one table element counts for.
const TABLE_ELEMENT_BYTES: usize = 16;

/// The memory that one sandbox holds. wasmtime's own limiter counts each memory by itself.
#[derive(Debug)]
pub(super) struct MemoryLimit {
    used: usize,
    limit: usize,
    is_exceeded: bool,
}

/// Returns the memory that a call's sandbox may hold: the limit of a call, and together with the sandboxes of its
/// callers at most twice as much.
pub(super) fn share_of(limit: usize, callers_memory: usize) -> usize {
    limit.saturating_mul(2).saturating_sub(callers_memory).min(limit)
}

impl MemoryLimit {
    pub(super) fn new(limit: usize) -> Self {
        Self { used: 0, limit, is_exceeded: false }
    }

    /// Returns whether the sandbox has asked for more than the limit.
    pub(super) fn is_exceeded(&self) -> bool {
        self.is_exceeded
    }

    /// Returns the bytes that the sandbox holds.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Returns the bytes that remain of the limit after the sandbox's memory and `held` more bytes; `None` if
    /// these exceed the limit.
    pub(super) fn remaining(&self, held: usize) -> Option<usize> {
        self.limit.checked_sub(self.used.saturating_add(held))
    }

    /// Returns the limit in bytes.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    fn grow(&mut self, current: usize, desired: usize) -> bool {
        let used = self.used.saturating_add(desired.saturating_sub(current));
        if used > self.limit {
            self.is_exceeded = true;
            return false;
        }
        self.used = used;
        true
    }
}

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(self.grow(current, desired))
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(self.grow(
            current.saturating_mul(TABLE_ELEMENT_BYTES),
            desired.saturating_mul(TABLE_ELEMENT_BYTES),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_calls_share_twice_the_limit_of_a_call() {
        let shares = [0, 40, 100, 150, 200, 300].map(|callers| share_of(100, callers));
        assert_eq!(shares, [100, 100, 100, 50, 0, 0]);
    }

    #[test]
    fn the_limit_applies_to_the_sum_of_all_memories() {
        let mut memory = MemoryLimit::new(100);
        assert!(memory.grow(0, 60));
        assert!(memory.grow(0, 30));
        assert!(!memory.grow(30, 41));
        assert!(memory.is_exceeded());
        assert!(memory.grow(30, 40));
        assert_eq!((memory.remaining(0), memory.remaining(1)), (Some(0), None));
    }
}
