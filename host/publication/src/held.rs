//! Bytes that the kernel can take by itself: held once more, in a file of their own.

use bytes::Bytes;
use std::{
    fs::File,
    io::{self, Write as _},
    os::fd::{AsFd as _, BorrowedFd},
    path::Path,
    sync::Arc,
};

/// Fewer are copied as soon as they are handed over (docs/performance.md, "The feeds").
const WORTH_BYTES: usize = 16 << 10;

/// Bytes, and a file without a name that has the same. It is on a disk and not a memfd(2): what the
/// kernel keeps of a disk is in larger pieces, of which it sends a document with less work.
#[derive(Debug)]
pub struct Held {
    bytes: Bytes,
    file: File,
}

impl Held {
    /// None where it would not pay, and where there is no room for the file.
    pub(super) fn of(bytes: &Bytes, folder: &Path) -> Option<Arc<Self>> {
        if bytes.len() < WORTH_BYTES {
            return None;
        }
        let filled = || -> io::Result<File> {
            let mut file = tempfile::tempfile_in(folder)?;
            file.write_all(bytes)?;
            Ok(file)
        };
        let file = filled()
            .inspect_err(|error| tracing::warn!(%error, folder = %folder.display(), "a feed could not be put into a file, and is copied for each answer instead"))
            .ok()?;
        Some(Arc::new(Self { bytes: bytes.clone(), file }))
    }

    /// To be read at given offsets, so that all can share it.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Where in the file a part of the bytes is, if it is a part of these very bytes: by its place in
    /// memory.
    pub fn offset_of(&self, part: &[u8]) -> Option<u64> {
        let within = self.bytes.as_ptr_range().contains(&part.as_ptr());
        let offset = part.as_ptr().addr().checked_sub(self.bytes.as_ptr().addr())?;
        within.then_some(offset as u64)
    }
}
