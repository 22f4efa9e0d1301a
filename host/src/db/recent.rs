//! Which documents of those that have the words are ranked on PostgreSQL: the ones written last.
//!
//! A GIN index knows nothing of order. So it has, beside each document's words, the two blocks of
//! the order of writing that the document is in, and words and blocks are looked for together.

use crate::db::{DbError, Store, query::Query, select::Select, unsigned};

/// Ranking takes longer than finding: where more documents than this have the words, those written
/// last are ranked, and the others have the relevance 0. By blocks, PostgreSQL comes near it.
pub(super) const RANKED: u64 = 1_000;

/// Documents of a small and of a large block, as powers of two.
const SMALL: u32 = 10;
const LARGE: u32 = 15;
/// The small blocks that tell how frequent the words are.
const SAMPLE: u64 = 5;

/// The column of the order of writing, for a table.
pub(super) fn sequence_column(table: &str) -> String {
    format!("seq BIGINT GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME {table}_seq)")
}

/// What the index of words is over: the words of a document and its blocks. Words are letters and
/// digits, so that no word is a block.
pub(super) fn indexed(words: &str, sequence: &str) -> String {
    format!(
        "({words} || array_to_tsvector(ARRAY['/s' || CAST({sequence} >> {SMALL} AS TEXT), '/l' || CAST({sequence} >> {LARGE} AS TEXT)]))"
    )
}

/// All that was written in or after a small block, up to the block that is written now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recent {
    since: u64,
    now: u64,
}

impl Recent {
    const SMALL_IN_LARGE: u64 = 1 << (LARGE - SMALL);

    /// The newest blocks, as many; none if that is all there are.
    fn new(now: u64, blocks: u64) -> Option<Self> {
        let since = (now + 1).checked_sub(blocks).filter(|since| *since > 0)?;
        Some(Self { since, now })
    }

    /// The place in the order of writing that it begins with.
    pub(super) fn first(self) -> u64 {
        self.since << SMALL
    }

    /// Its blocks as a condition: small ones up to the next large one.
    pub(super) fn blocks(self) -> String {
        let large = self.since.div_ceil(Self::SMALL_IN_LARGE);
        let small = self.since..=self.now.min(large * Self::SMALL_IN_LARGE - 1);
        let large = large..=self.now / Self::SMALL_IN_LARGE;
        let small = small.map(|number| format!("'/s{number}'"));
        let large = large.map(|number| format!("'/l{number}'"));
        small.chain(large).collect::<Vec<_>>().join(" | ")
    }
}

impl Store {
    /// The recent documents of which about [`RANKED`] have the words; none where all are ranked,
    /// because there are few.
    pub(super) async fn recent(
        &self,
        select: &Select<'_>,
        query: &Query,
    ) -> Result<Option<Recent>, DbError> {
        let last: Vec<(i64,)> = self.rows(&select.last_written()).await?;
        let now = last.first().map_or(0, |(last,)| unsigned(*last) >> SMALL);
        let Some(sample) = Recent::new(now, SAMPLE) else { return Ok(None) };
        let counted: Vec<(i64,)> = self.rows(&select.sample(query, sample)).await?;
        let have = counted.first().map_or(0, |(count,)| unsigned(*count));
        // The newest block may be all but empty.
        let blocks = (SAMPLE * RANKED).checked_div(have).map(|blocks| blocks + 1);
        Ok(blocks.and_then(|blocks| Recent::new(now, blocks)))
    }
}
