//! A disk in memory that can be full or read-only.

use crate::harness::Options;
use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// A disk in memory, if the system permits mounting one.
pub struct Disk {
    pub folder: TempDir,
}

impl Disk {
    pub fn with_megabytes(megabytes: u64) -> Option<Self> {
        let disk = Self { folder: TempDir::new().unwrap() };
        let size = format!("size={megabytes}m");
        disk.mount(&["-t", "tmpfs", "-o", &size, "tmpfs"]).then_some(disk)
    }

    pub fn remount(&self, options: &str) {
        assert!(self.mount(&["-o", &format!("remount,{options}")]));
    }

    fn mount(&self, arguments: &[&str]) -> bool {
        let mut mount = Command::new("mount");
        mount.args(arguments).arg(self.folder.path()).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success())
    }

    /// Fills the disk to the last byte with a file, and returns the file.
    pub fn fill(&self) -> PathBuf {
        let path = self.folder.path().join("filler");
        let mut file = std::fs::File::create(&path).unwrap();
        let block = vec![0; 1 << 16];
        while file.write_all(&block).is_ok() {}
        path
    }

    /// Puts the data folder of a host on this disk before it starts.
    pub fn place_data(&self, options: Options) -> TempDir {
        let folder = options.folder();
        // Components that were already compiled are compiled again on this disk.
        let data = folder.path().join("data");
        if data.exists() {
            std::fs::remove_dir_all(&data).unwrap();
        }
        std::os::unix::fs::symlink(self.folder.path(), data).unwrap();
        folder
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // This fails if nothing is mounted, and then there is nothing to undo.
        let mut unmount = Command::new("umount");
        let _done = unmount.arg("--lazy").arg(self.folder.path()).stderr(Stdio::null()).status();
    }
}
