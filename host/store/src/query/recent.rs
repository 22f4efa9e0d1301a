//! The blocks of recently written documents: PostgreSQL ranks only the documents in them.
//!
//! A GIN index has no order. Documents are therefore grouped into blocks in the order of writing. The index
//! has each document's words and the names of the two blocks that contain it, and a query searches for words
//! and blocks together.

/// The maximum number of documents that are ranked, because ranking takes longer than finding. If more
/// documents match, those written last are ranked, and the others have the relevance 0. On PostgreSQL
/// the number is approximate, because whole blocks are ranked.
pub(crate) const RANKED: u64 = 1_000;

/// The maximum number of documents that are ranked of those with a part of the words: the newest that have the
/// most of them.
pub(crate) const RANKED_PARTIAL: u64 = 500;

/// Documents with a part of the words are searched among this many of the newest documents.
pub(crate) const NEWEST: u64 = 1 << 16;

/// The sizes of small and large blocks, as powers of two.
const SMALL: u32 = 10;
const LARGE: u32 = 14;
/// The number of small blocks that are sampled for the frequency of the words.
pub(super) const SAMPLE: u64 = 5;

/// Returns the definition of the column that numbers a table's documents in the order of writing.
pub(crate) fn sequence_column(table: &str) -> String {
    format!("seq BIGINT GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME {table}_seq)")
}

/// Returns the expression that is indexed: the words of a document and the names of its blocks.
/// Words have letters and digits only, so no word equals a block's name.
pub(crate) fn indexed_expression(words: &str, sequence: &str) -> String {
    format!(
        "({words} || array_to_tsvector(ARRAY['/s' || CAST({sequence} >> {SMALL} AS TEXT), '/l' || CAST({sequence} >> {LARGE} AS TEXT)]))"
    )
}

/// The numbers of newest small blocks at which the stretches of [`Stretch::all`] end.
const STRETCHES: [u64; 3] = [4, 16, NEWEST >> SMALL];

/// Documents that were written one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    /// The blocks in which they are; `None` if these are all.
    pub(crate) blocks: Option<RecentBlocks>,
    /// The position before which they were written; `None` for the newest.
    pub(crate) end: Option<u64>,
}

impl Stretch {
    /// Returns the stretches of about the [`NEWEST`] documents, the newest one first. Each is longer than the one
    /// before. `last` is the last position in the order of writing.
    pub(super) fn all(last: u64) -> Vec<Self> {
        let (mut stretches, mut end) = (Vec::new(), None);
        for small_blocks in STRETCHES {
            let blocks = RecentBlocks::new(last, small_blocks);
            stretches.push(Self { blocks, end });
            let Some(blocks) = blocks else { break };
            end = Some(blocks.first_position());
        }
        stretches
    }
}

/// The documents from one block on, up to the block that is being written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecentBlocks {
    /// The size of the blocks, as a power of two. The index scans whole blocks, so few large blocks are
    /// better than many small ones.
    power: u32,
    first_block: u64,
    last_block: u64,
}

impl RecentBlocks {
    /// Returns at least this many of the newest small blocks; `None` if they contain all documents. `last`
    /// is the last position in the order of writing.
    pub(super) fn new(last: u64, small_blocks: u64) -> Option<Self> {
        let large = small_blocks >= 2 << (LARGE - SMALL);
        let power = if large { LARGE } else { SMALL };
        let last_block = last >> power;
        let first = ((last >> SMALL) + 1).checked_sub(small_blocks)?;
        let first_block = (first << SMALL) >> power;
        (first_block > 0).then_some(Self { power, first_block, last_block })
    }

    /// Returns whether the blocks are small.
    pub(super) fn has_small_blocks(self) -> bool {
        self.power == SMALL
    }

    /// Returns the first position of these blocks in the order of writing.
    pub(crate) fn first_position(self) -> u64 {
        self.first_block << self.power
    }

    /// Returns the names of the blocks as a condition of a `tsquery`.
    pub(crate) fn block_condition(self) -> String {
        let size = if self.power == LARGE { 'l' } else { 's' };
        let blocks =
            (self.first_block..=self.last_block).map(|number| format!("'/{size}{number}'"));
        blocks.collect::<Vec<_>>().join(" | ")
    }
}
