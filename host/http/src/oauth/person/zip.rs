//! A ZIP archive of stored files (PKWARE's APPNOTE, without its 64-bit extension), written file by file.

/// The version that is needed to extract a stored file: 1.0.
const VERSION: u16 = 10;
/// The flag for names in UTF-8.
const UTF8: u16 = 0x0800;
/// The first day that the format can write, 1980-01-01: the files have no time of their own.
const DATE: u16 = 0x0021;
const LOCAL_HEADER: u32 = 0x0403_4b50;
const DIRECTORY_HEADER: u32 = 0x0201_4b50;
const DIRECTORY_END: u32 = 0x0605_4b50;

/// The part of an archive that is written at its end.
#[derive(Default)]
pub(super) struct Zip {
    directory: Vec<u8>,
    files: u16,
    /// The bytes that were returned so far.
    written: u32,
}

impl Zip {
    /// Returns the bytes of the next file; `None` if it does not fit into the archive any more.
    pub(super) fn file(&mut self, name: &str, content: &[u8]) -> Option<Vec<u8>> {
        let name_bytes = u16::try_from(name.len()).ok()?;
        let size = u32::try_from(content.len()).ok()?;
        let mut about = Vec::new();
        for number in [VERSION, UTF8, 0, 0, DATE] {
            about.extend(number.to_le_bytes());
        }
        for number in [crc32fast::hash(content), size, size] {
            about.extend(number.to_le_bytes());
        }
        about.extend(name_bytes.to_le_bytes());
        about.extend(0_u16.to_le_bytes());

        self.directory.extend(DIRECTORY_HEADER.to_le_bytes());
        self.directory.extend(VERSION.to_le_bytes());
        self.directory.extend(&about);
        // No comment, on the first disk, without attributes.
        self.directory.extend([0; 10]);
        self.directory.extend(self.written.to_le_bytes());
        self.directory.extend(name.as_bytes());

        let bytes = [&LOCAL_HEADER.to_le_bytes(), &*about, name.as_bytes(), content].concat();
        self.files = self.files.checked_add(1)?;
        self.written = self.written.checked_add(u32::try_from(bytes.len()).ok()?)?;
        Some(bytes)
    }

    /// Returns the end of the archive.
    pub(super) fn end(self) -> Option<Vec<u8>> {
        let size = u32::try_from(self.directory.len()).ok()?;
        let mut bytes = self.directory;
        bytes.extend(DIRECTORY_END.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(self.files.to_le_bytes());
        bytes.extend(self.files.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(self.written.to_le_bytes());
        bytes.extend([0; 2]);
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other programs read whole archives in the tests of the pages.
    #[test]
    fn an_archive_has_its_files_and_a_directory_of_them() {
        let mut zip = Zip::default();
        let mut archive = zip.file("a/b.json", b"{}").unwrap();
        archive.extend(zip.file("index.md", "ä".as_bytes()).unwrap());
        let start = archive.len() as u32;
        archive.extend(zip.end().unwrap());
        assert_eq!(archive[..4], LOCAL_HEADER.to_le_bytes());
        assert_eq!(archive[30..40], *b"a/b.json{}");
        let end = archive.len() - 22;
        assert_eq!(archive[end..end + 4], DIRECTORY_END.to_le_bytes());
        assert_eq!(archive[end + 10], 2);
        assert_eq!(archive[end + 16..end + 20], start.to_le_bytes());
    }
}
