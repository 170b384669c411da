//! Compiles the C library.

use std::env;
use std::path::PathBuf;

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let sources = root.join("c/src");
    let include = root.join("c/include");
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-changed={}", include.display());
    // For the build scripts of crates that depend on this one: where pipe_writer.h is.
    println!("cargo::metadata=include={}", include.display());

    let mut files: Vec<_> = sources
        .read_dir()
        .unwrap_or_else(|error| panic!("{}: {error}: has `c` its links here?", sources.display()))
        .map(|entry| entry.expect("a folder that can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    files.sort();
    // What the tests hold the declarations in src/ffi.rs against. Nothing else uses it, so linkers leave it out.
    let layout = root.join("src/layout.c");
    println!("cargo::rerun-if-changed={}", layout.display());
    cc::Build::new()
        .files(files)
        .file(layout)
        .include(include)
        .include(sources)
        .std("c11")
        .define("_GNU_SOURCE", None)
        .define("_FILE_OFFSET_BITS", "64")
        .flag("-fvisibility=hidden")
        // The library's own `make lint` treats its warnings as errors; they are nothing to a user of this crate.
        .warnings(false)
        .compile("pipe_writer");
}
