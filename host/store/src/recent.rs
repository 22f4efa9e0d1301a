//! Which documents of those that have the words are ranked on PostgreSQL: the ones written last.
//!
//! A GIN index knows nothing of order. So it has, beside each document's words, the two blocks of
//! the order of writing that the document is in, and words and blocks are looked for together.

use crate::{DbError, Store, query::Query, select::Select, unsigned};

/// Ranking takes longer than finding: where more documents than this have the words, those written
/// last are ranked, and the others have the relevance 0. By blocks, PostgreSQL comes near it.
pub(super) const RANKED: u64 = 1_000;

/// Documents of a small and of a large block, as powers of two.
const SMALL: u32 = 10;
const LARGE: u32 = 14;
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

/// All that was written in or after a block, up to the block that is written now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recent {
    /// Of small blocks or of large ones: the index looks through all that is in them, so a few are
    /// better than many.
    power: u32,
    since: u64,
    now: u64,
}

impl Recent {
    /// The newest small blocks, as many, or somewhat more; none if that is all there are.
    fn new(last: u64, small_blocks: u64) -> Option<Self> {
        let large = small_blocks >= 2 << (LARGE - SMALL);
        let power = if large { LARGE } else { SMALL };
        let now = last >> power;
        let first = ((last >> SMALL) + 1).checked_sub(small_blocks)?;
        let since = (first << SMALL) >> power;
        (since > 0).then_some(Self { power, since, now })
    }

    /// The place in the order of writing that it begins with.
    pub(super) fn first(self) -> u64 {
        self.since << self.power
    }

    /// Its blocks as a condition.
    pub(super) fn blocks(self) -> String {
        let size = if self.power == LARGE { 'l' } else { 's' };
        let blocks = (self.since..=self.now).map(|number| format!("'/{size}{number}'"));
        blocks.collect::<Vec<_>>().join(" | ")
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
        let last = last.first().map_or(0, |(last,)| unsigned(*last));
        let Some(sample) = Recent::new(last, SAMPLE) else { return Ok(None) };
        let counted: Vec<(i64,)> = self.rows(&select.sample(query, sample)).await?;
        let have = counted.first().map_or(0, |(count,)| unsigned(*count));
        // The newest block may be all but empty.
        let blocks = (SAMPLE * RANKED).checked_div(have).map(|blocks| blocks + 1);
        let recent = blocks.and_then(|blocks| Recent::new(last, blocks));
        // For several words the index looks through all that is in the blocks: from many documents
        // on, ranking all that have the words takes less.
        Ok(recent.filter(|recent| query.words.len() == 1 || recent.power == SMALL))
    }
}
