//! The unused space in the pages of SQLite. `secure_delete` overwrites rows that are deleted, but not the copies
//! that stay in a page when SQLite moves rows to another one.

use super::{native::NativeTransaction, sqlite::Sqlite};
use crate::error::DbError;
use rusqlite::OptionalExtension as _;
use std::ops::Range;
use tokio::task::spawn_blocking;

/// The number of pages that are read in one transaction.
const STEP: u32 = 128;
/// The number of pages of a larger file needs four bytes that can begin like the header of a B-tree: such a page
/// cannot be told from others by its first byte. With pages of 4 KiB, the file has 128 GiB.
const MAX_PAGES: u32 = (1 << 25) - 1;

impl Sqlite {
    /// Overwrites the unused space of all pages, and empties the write-ahead log. Others write between the steps.
    pub(crate) async fn scrub(&self) -> Result<(), DbError> {
        let mut next = Some(1);
        while let Some(first) = next {
            let transaction = self.writer.begin().await?;
            let step = spawn_blocking(move || scrub_pages(transaction, first));
            next = step.await.map_err(|_| DbError::Closed)??;
        }
        let _guard = self.lock_writer().await?;
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&self.write_pool).await?;
        Ok(())
    }
}

/// Overwrites the unused space of `STEP` pages, and returns the first page of the next step.
fn scrub_pages(transaction: NativeTransaction, first: u32) -> Result<Option<u32>, DbError> {
    let connection = transaction.connection();
    let pages: u32 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    if pages > MAX_PAGES {
        tracing::warn!(pages, "the file is too large to overwrite its unused space: run VACUUM");
        return Ok(None);
    }
    let next = first.saturating_add(STEP);
    let mut read = connection.prepare_cached("SELECT data FROM sqlite_dbpage WHERE pgno = ?1")?;
    let mut write =
        connection.prepare_cached("UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1")?;
    let mut changed = false;
    for number in first..next.min(pages.saturating_add(1)) {
        let page: Option<Vec<u8>> = read.query_row([number], |row| row.get(0)).optional()?;
        let Some(mut page) = page else { continue };
        let unused = unused(&page, number).and_then(|unused| page.get_mut(unused));
        let Some(unused) = unused.filter(|bytes| bytes.iter().any(|byte| *byte != 0)) else {
            continue;
        };
        unused.fill(0);
        write.execute(rusqlite::params![number, page])?;
        changed = true;
    }
    drop((read, write));
    if changed {
        transaction.commit()?;
    }
    Ok((next <= pages).then_some(next))
}

/// Returns where a page of a B-tree has unused bytes: between the pointers to its cells and the first cell
/// (<https://www.sqlite.org/fileformat2.html#b_tree_pages>).
fn unused(page: &[u8], number: u32) -> Option<Range<usize>> {
    // The first page begins with the header of the file.
    let header = if number == 1 { 100 } else { 0 };
    let header_bytes = match page.get(header)? {
        2 | 5 => 12,
        10 | 13 => 8,
        _ => return None,
    };
    let number_at = |at: usize| {
        let bytes = page.get(at..at + 2)?.try_into().ok()?;
        Some(usize::from(u16::from_be_bytes(bytes)))
    };
    let cells = number_at(header + 3)?;
    let first_cell = number_at(header + 5).map(|at| if at == 0 { 1 << 16 } else { at })?;
    let end_of_pointers = header + header_bytes + 2 * cells;
    (end_of_pointers < first_cell && first_cell <= page.len())
        .then_some(end_of_pointers..first_cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the first bytes of a page with two cells, the first of them at this place.
    fn page(kind: u8, first_cell: u16) -> Vec<u8> {
        let mut page = vec![0; 512];
        let [high, low] = first_cell.to_be_bytes();
        page[..7].copy_from_slice(&[kind, 0, 0, 0, 2, high, low]);
        page
    }

    #[test]
    fn the_unused_space_is_between_the_pointers_and_the_cells() {
        assert_eq!(unused(&page(13, 400), 2), Some(12..400));
        assert_eq!(unused(&page(10, 400), 2), Some(12..400));
        assert_eq!(unused(&page(5, 400), 2), Some(16..400));
        let mut first = vec![0; 100];
        first.extend(page(13, 400));
        assert_eq!(unused(&first, 1), Some(112..400));
    }

    #[test]
    fn other_pages_and_damaged_ones_have_none() {
        for page in [page(0, 400), page(1, 400), page(13, 10), page(13, 600), page(13, 0), vec![13]]
        {
            assert_eq!(unused(&page, 2), None);
        }
    }
}
