//! The heap of a capability: an arena in its initial memory, which grows only when the arena is full.
//!
//! To grow a memory, the host changes the protection of its pages under locks of the whole process, which
//! slows down every sandbox. An arena in the initial memory costs nothing until it is used.

use core::{alloc::Layout, arch::wasm32::memory_grow, mem::MaybeUninit};
use talc::{
    base::{Talc, binning::Binning},
    cell::TalcSyncCell,
    source::Source,
    wasm::WasmBinning,
};

const ARENA_BYTES: usize = 1 << 20;
const PAGE_BYTES: usize = 64 << 10;
/// Growth is expensive, so the heap grows rarely and in large steps.
const LEAST_GROWTH_PAGES: usize = 16;

static mut ARENA: [MaybeUninit<u8>; ARENA_BYTES] = [MaybeUninit::uninit(); ARENA_BYTES];

#[global_allocator]
static HEAP: TalcSyncCell<ArenaThenGrowth, WasmBinning> =
    TalcSyncCell::new_wasm(ArenaThenGrowth { arena_given: false });

/// The source of the heap's memory.
#[derive(Debug)]
struct ArenaThenGrowth {
    arena_given: bool,
}

#[expect(unsafe_code, reason = "the allocator is handed memory that nobody else uses")]
// SAFETY: `acquire` does not allocate from this heap.
unsafe impl Source for ArenaThenGrowth {
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        if !talc.source.arena_given {
            talc.source.arena_given = true;
            // SAFETY: only here is the arena used, and only once.
            let claimed = unsafe { talc.claim((&raw mut ARENA).cast(), ARENA_BYTES) };
            return claimed.map(drop).ok_or(());
        }
        // Room for the allocator's own records and for alignment.
        let wanted = layout.size().saturating_add(layout.align()).saturating_add(PAGE_BYTES);
        let pages = wanted.div_ceil(PAGE_BYTES).max(LEAST_GROWTH_PAGES);
        let before = match memory_grow::<0>(pages) {
            usize::MAX => return Err(()),
            before => before,
        };
        let start = (before * PAGE_BYTES) as *mut u8;
        // SAFETY: the pages are new, so nobody else uses them.
        let claimed = unsafe { talc.claim(start, pages * PAGE_BYTES) };
        claimed.map(drop).ok_or(())
    }
}
