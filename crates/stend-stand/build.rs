//! Puts the sources of `stend-probe` into the program: on a machine that it reaches over ssh they are built by that machine's own compiler.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What `probe/build.sh` builds, and what it reads.
const FOLDERS: [&str; 5] = ["kuzma/include", "kuzma/src", "pipe-writer/include", "pipe-writer/src", "probe/src"];
const FILES: [&str; 3] = ["kuzma/instructions.mk", "probe/build.sh", "probe/instructions.mk"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths: Vec<PathBuf> = FILES.iter().map(|file| root.join(file)).collect();
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
        sources(&root.join(folder), &mut paths);
    }
    // As texts, which is the order of probe/Makefile too.
    paths.sort_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    let mut text = String::from("&[\n");
    for path in &paths {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = path.strip_prefix(&root).expect("it is below the root");
        writeln!(text, "    ({name:?}, include_bytes!({path:?}) as &[u8]),").expect("a string takes all");
    }
    text.push_str("]\n");
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    std::fs::write(Path::new(&out).join("probe_sources.rs"), text).expect("the build directory can be written");
}

fn sources(folder: &Path, paths: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            sources(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "c" || extension == "h") {
            paths.push(path);
        }
    }
}
