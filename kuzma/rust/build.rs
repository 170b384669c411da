//! Compiles the C library, each file with the instructions that its place and name ask for, as the library's own Makefile does.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let c = root.join("c");
    let include = c.join("include");
    println!("cargo::rerun-if-changed={}", c.join("src").display());
    println!("cargo::rerun-if-changed={}", include.display());
    // For the build scripts of crates that depend on this one: where kuzma.h is.
    println!("cargo::metadata=include={}", include.display());

    let mut sources = c_files(&c.join("src"));
    sources.sort();
    assert!(!sources.is_empty(), "{} has no C files: has it its links here?", c.display());

    let base = base(&c);
    let mut library = base.clone();
    // As the Makefile: who wants no intrinsics may have a compiler that does not know the flags.
    let plain =
        base.get_compiler().args().iter().any(|word| word.to_string_lossy().starts_with("-DKUZMA_NO_INTRINSICS"));
    let table = c.join("instructions.mk");
    println!("cargo::rerun-if-changed={}", table.display());
    let table = fs::read_to_string(&table).unwrap_or_else(|error| panic!("{}: {error}", table.display()));
    for source in &sources {
        let flags = if plain { Vec::new() } else { instructions(&table, source) };
        if flags.is_empty() {
            library.file(source);
            continue;
        }
        let mut special = base.clone();
        for flag in flags {
            special.flag(flag);
        }
        for object in special.file(source).compile_intermediates() {
            library.object(object);
        }
    }
    // What the tests hold the declarations in src/ffi.rs against. Nothing else uses it, so linkers leave it out.
    let layout = root.join("src/layout.c");
    println!("cargo::rerun-if-changed={}", layout.display());
    library.file(layout);
    library.compile("kuzma");
}

fn base(c: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .include(c.join("include"))
        .include(c.join("src"))
        .std("c11")
        .define("_GNU_SOURCE", None)
        .flag("-fvisibility=hidden")
        // Whatever the profile: a cipher that was not optimised is of no use, even in tests.
        .opt_level(2)
        // The library's own `make lint` treats its warnings as errors; they are nothing to a user of this crate.
        .warnings(false);
    build
}

/// What `instructions.mk` has for the file's folder and the start of its name, as in `x86_avx2 = -mavx2`. Such files run only where the
/// processor has the instructions, and are empty for other architectures.
fn instructions<'a>(table: &'a str, source: &Path) -> Vec<&'a str> {
    let family = match env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it").as_str() {
        "x86_64" => "x86",
        "aarch64" => "arm",
        _ => return Vec::new(),
    };
    if source.parent().and_then(Path::file_name).is_none_or(|folder| folder != family) {
        return Vec::new();
    }
    let stem = source.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let name = format!("{family}_{}", stem.split('_').next().unwrap_or_default());
    let line = table.lines().find_map(|line| line.strip_prefix(&name)?.strip_prefix(" = "));
    line.unwrap_or_default().split_whitespace().collect()
}

fn c_files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries
        .map(|entry| entry.expect("a folder that can be read").path())
        .flat_map(|path| if path.is_dir() { c_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect()
}
