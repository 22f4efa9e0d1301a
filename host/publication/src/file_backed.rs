//! Bytes that the kernel can send by itself, because they are also in a file.

use bytes::Bytes;
use std::{
    fs::File,
    io::{self, Write as _},
    os::fd::{AsFd as _, BorrowedFd},
    path::Path,
    sync::Arc,
};

/// The minimum number of bytes. Fewer are cheaper to copy than to send from a file
/// (docs/performance.md, "The feeds").
const MIN_BYTES: usize = 16 << 10;

/// Bytes, and an unnamed file with the same content. The file is on a disk and not a memfd(2), because
/// the kernel caches a disk in larger pages, which it sends with less work.
#[derive(Debug)]
pub struct FileBacked {
    bytes: Bytes,
    file: File,
}

impl FileBacked {
    /// Writes the bytes to a file in this folder. Returns `None` if there are too few, or if the file cannot
    /// be written.
    pub(crate) fn new(bytes: &Bytes, folder: &Path) -> Option<Arc<Self>> {
        if bytes.len() < MIN_BYTES {
            return None;
        }
        let write_file = || -> io::Result<File> {
            let mut file = tempfile::tempfile_in(folder)?;
            file.write_all(bytes)?;
            Ok(file)
        };
        let file = write_file()
            .inspect_err(|error| tracing::warn!(%error, folder = %folder.display(), "a feed could not be written to a file, and is copied for each answer instead"))
            .ok()?;
        Some(Arc::new(Self { bytes: bytes.clone(), file }))
    }

    /// Returns the file, which is shared and must be read at given offsets.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Returns the offset in the file of a slice of these bytes. A slice of other memory has none.
    pub fn offset_of(&self, part: &[u8]) -> Option<u64> {
        let is_in_buffer = self.bytes.as_ptr_range().contains(&part.as_ptr());
        let offset = part.as_ptr().addr().checked_sub(self.bytes.as_ptr().addr())?;
        is_in_buffer.then_some(offset as u64)
    }
}
