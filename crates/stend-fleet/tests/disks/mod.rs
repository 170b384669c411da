//! Disks: filesystems on loop devices, which give nothing to their device by themselves.

use std::path::{Path, PathBuf};
use std::process::Command;

fn run(program: &str, words: &[&str], path: &Path) {
    let output = Command::new(program).args(words).arg(path).output().unwrap();
    assert!(output.status.success(), "{program} {}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
}

/// A filesystem, until it is dropped.
pub(crate) struct Disk {
    image: PathBuf,
    mount: PathBuf,
}

impl Disk {
    /// A new one, of so many MiB; its image is below this directory.
    pub(crate) fn new(directory: &Path, name: &str, size: u64) -> Self {
        let image = directory.join(format!("{name}.image"));
        std::fs::File::create_new(&image).unwrap().set_len(size << 20).unwrap();
        run("mkfs.ext4", &["-q", "-m", "0"], &image);
        Self::of(image)
    }

    /// The one that an image has.
    pub(crate) fn of(image: PathBuf) -> Self {
        let mount = image.with_extension("mounted");
        std::fs::create_dir_all(&mount).unwrap();
        let from = ["-o", "loop,commit=900", image.to_str().unwrap()];
        run("mount", &from, &mount);
        Self { image, mount }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.mount
    }

    /// Leaves no room on it.
    pub(crate) fn fill(&self) {
        // It takes what there is, and fails.
        let filled = Command::new("fallocate").args(["--length", "1T"]).arg(self.filler()).output().unwrap();
        assert!(!filled.status.success(), "the disk is full");
    }

    pub(crate) fn free(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.mount.join("filler")
    }

    /// Copies what its device has now: without what the filesystem has not given to it.
    pub(crate) fn copy_device(&self, to: &Path) {
        run("cp", &["--sparse=always", self.image.to_str().unwrap()], to);
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.mount).status();
    }
}
