//! Compiles the C library, each file with the instructions that its place and name ask for, as the library's own Makefile does.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let c = root.join("c");
    let include = c.join("include");
    let table = c.join("instructions.mk");
    let layout = root.join("src/layout.c");
    for input in [&c.join("src"), &include, &table, &layout] {
        println!("cargo::rerun-if-changed={}", input.display());
    }
    // For the build scripts of crates that depend on this one: where morse.h is.
    println!("cargo::metadata=include={}", include.display());

    let mut sources = c_files(&c.join("src"));
    sources.sort();
    assert!(!sources.is_empty(), "{} has no C files: has it its links here?", c.display());
    let table = fs::read_to_string(&table).unwrap_or_else(|error| panic!("{}: {error}", table.display()));
    let mut base = cc::Build::new();
    base.include(&include)
        .std("c11")
        .define("_GNU_SOURCE", None)
        .flag("-fvisibility=hidden")
        // Whatever the profile: it is to be fast in tests too.
        .opt_level(2)
        // The library's own `make lint` treats its warnings as errors; they are nothing to a user of this crate.
        .warnings(false);
    let mut library = base.clone();
    // As the Makefile: who wants no intrinsics may have a compiler that does not know the flags.
    let plain =
        base.get_compiler().args().iter().any(|word| word.to_string_lossy().starts_with("-DMORSE_NO_INTRINSICS"));
    for source in &sources {
        let mut special = base.clone();
        if !plain {
            for flag in instructions(&table, source) {
                special.flag(flag);
            }
        }
        for object in special.file(source).compile_intermediates() {
            library.object(object);
        }
    }
    // What the tests hold the declarations in src/ffi.rs against. Nothing else uses it, so linkers leave it out.
    library.file(layout);
    library.compile("morse");
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
