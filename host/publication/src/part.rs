//! Documents that are held compressed only, because they are many or large: the parts of feeds, and the
//! other forms of feeds.

use bytes::Bytes;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use portolan_feeds::{
    descriptions::stored,
    document::{Documents, etag},
    record::{Index, PartEntry},
};
use std::{
    collections::BTreeMap,
    io::{self, Cursor, Read as _, Write as _},
    iter,
};

/// How many bytes are decompressed at once.
const CHUNK_BYTES: usize = 64 << 10;

/// A document, compressed with gzip.
#[derive(Debug, Clone)]
pub struct Part {
    pub media_type: &'static str,
    pub packed: Bytes,
    /// The entity tag of the compressed bytes.
    pub packed_etag: String,
    /// The entity tag of the plain bytes.
    pub etag: String,
}

impl Part {
    pub(crate) fn new(media_type: &'static str, bytes: &[u8]) -> io::Result<Self> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes)?;
        let packed = encoder.finish()?;
        let (packed_etag, etag) = (etag(&packed), etag(bytes));
        Ok(Self { media_type, packed: packed.into(), packed_etag, etag })
    }

    /// Returns the plain bytes piece by piece, for clients that do not accept gzip.
    pub fn plain(&self) -> impl Iterator<Item = io::Result<Bytes>> + Send + use<> {
        let mut decoder = GzDecoder::new(Cursor::new(self.packed.clone()));
        iter::from_fn(move || {
            let mut chunk = vec![0; CHUNK_BYTES];
            match decoder.read(&mut chunk) {
                Ok(0) => None,
                Ok(length) => {
                    chunk.truncate(length);
                    Some(Ok(chunk.into()))
                }
                Err(error) => Some(Err(error)),
            }
        })
    }
}

/// Returns the parts that the index lists, by their paths. Those that have not changed since `previous`
/// are shared with it.
pub(crate) fn parts(
    index: &Index,
    files: &Documents,
    previous: &BTreeMap<String, Part>,
) -> BTreeMap<String, Part> {
    let listed = index.items.iter().flat_map(|feed| &feed.parts);
    let part = |entry: &PartEntry| {
        let packed = files.get(&stored(&entry.path))?;
        let existing = previous.get(&entry.path).filter(|existing| existing.packed == packed);
        let part = existing.cloned().unwrap_or_else(|| Part {
            media_type: "application/json",
            packed_etag: etag(packed),
            packed: packed.clone().into(),
            etag: entry.etag.clone(),
        });
        Some((entry.path.clone(), part))
    };
    listed.filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_decompressed_piece_by_piece() {
        let bytes: Vec<u8> = (0..200_000_u32).flat_map(u32::to_be_bytes).collect();
        let part = Part::new("text/csv", &bytes).unwrap();
        let pieces: Vec<Bytes> = part.plain().collect::<io::Result<_>>().unwrap();
        assert!(pieces.iter().all(|piece| piece.len() <= CHUNK_BYTES));
        assert_eq!(pieces.concat(), bytes);
        assert_eq!(part.etag, etag(&bytes));
    }
}
