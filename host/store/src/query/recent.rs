//! Which documents of those that have the words are ranked on PostgreSQL: the ones written last.
//!
//! A GIN index knows nothing of order. So it has, beside each document's words, the two blocks of
//! the order of writing that the document is in, and words and blocks are looked for together.

/// Ranking takes longer than finding: where more documents than this have the words, those written
/// last are ranked, and the others have the relevance 0. By blocks, PostgreSQL comes near it.
pub(crate) const RANKED: u64 = 1_000;

/// Documents of a small and of a large block, as powers of two.
const SMALL: u32 = 10;
const LARGE: u32 = 14;
/// The small blocks that tell how frequent the words are.
pub(super) const SAMPLE: u64 = 5;

/// The column of the order of writing, for a table.
pub(crate) fn sequence_column(table: &str) -> String {
    format!("seq BIGINT GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME {table}_seq)")
}

/// What the index of words is over: the words of a document and its blocks. Words are letters and
/// digits, so that no word is a block.
pub(crate) fn indexed(words: &str, sequence: &str) -> String {
    format!(
        "({words} || array_to_tsvector(ARRAY['/s' || CAST({sequence} >> {SMALL} AS TEXT), '/l' || CAST({sequence} >> {LARGE} AS TEXT)]))"
    )
}

/// All that was written in or after a block, up to the block that is written now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recent {
    /// Of small blocks or of large ones: the index looks through all that is in them, so a few are
    /// better than many.
    power: u32,
    since: u64,
    now: u64,
}

impl Recent {
    /// The newest small blocks, as many, or somewhat more; none if that is all there are.
    pub(super) fn new(last: u64, small_blocks: u64) -> Option<Self> {
        let large = small_blocks >= 2 << (LARGE - SMALL);
        let power = if large { LARGE } else { SMALL };
        let now = last >> power;
        let first = ((last >> SMALL) + 1).checked_sub(small_blocks)?;
        let since = (first << SMALL) >> power;
        (since > 0).then_some(Self { power, since, now })
    }

    /// Whether the index looks through all that is in small blocks alone.
    pub(super) fn is_of_small_blocks(self) -> bool {
        self.power == SMALL
    }

    /// The place in the order of writing that it begins with.
    pub(crate) fn first(self) -> u64 {
        self.since << self.power
    }

    /// Its blocks as a condition.
    pub(crate) fn blocks(self) -> String {
        let size = if self.power == LARGE { 'l' } else { 's' };
        let blocks = (self.since..=self.now).map(|number| format!("'/{size}{number}'"));
        blocks.collect::<Vec<_>>().join(" | ")
    }
}
