//! A generator of pseudo-random numbers, which are the same for the same seed (splitmix64).

#[derive(Debug, Clone)]
pub(super) struct Chance(u64);

impl Chance {
    /// Makes a separate sequence for each purpose, so that a change to one does not change the others.
    pub(super) fn new(seed: u64, purpose: &str) -> Self {
        let mixed = purpose.bytes().fold(seed, |state, byte| Self(state ^ u64::from(byte)).next());
        Self(mixed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number less than `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// Returns a number from `least` to `most`, rounded to five decimals.
    pub(super) fn between(&mut self, least: f64, most: f64) -> f64 {
        let part = f64::from(u32::try_from(self.below(100_000)).unwrap_or(0)) / 100_000.0;
        ((least + (most - least) * part) * 100_000.0).round() / 100_000.0
    }

    pub(super) fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let bound = u64::try_from(of.len()).unwrap_or(u64::MAX);
        of.get(usize::try_from(self.below(bound)).unwrap_or(0))
    }

    pub(super) fn word(&mut self, of: &[&'static str]) -> &'static str {
        self.one(of).copied().unwrap_or_default()
    }
}
