//! Compiles the C library, each file with the instructions that its place and name ask for, as its own Makefile does.

use std::env;
use std::path::{Path, PathBuf};

/// What the start of a file's name below `x86/` or `arm/` stands for. Such files run only where the processor has the
/// instructions, and are empty for other architectures. The same flags as in the Makefile's `instructions.mk`, which says why.
const INSTRUCTIONS: [(&str, &str, &str, &[&str]); 6] = [
    ("x86_64", "x86", "ssse3", &["-mssse3", "-falign-functions=64", "-falign-loops=64"]),
    ("x86_64", "x86", "pclmul", &["-mssse3", "-mpclmul"]),
    ("x86_64", "x86", "avx2", &["-mavx2", "-falign-functions=64", "-falign-loops=64"]),
    ("x86_64", "x86", "gfni", &["-mavx2", "-mgfni"]),
    (
        "x86_64",
        "x86",
        "avx512",
        &[
            "-mavx512f",
            "-mavx512bw",
            "-mavx512dq",
            "-mavx512vl",
            "-mavx512vbmi",
            "-mavx512vbmi2",
            "-mgfni",
            "-mvpclmulqdq",
            "-mpclmul",
            "-mprefer-vector-width=512",
        ],
    ),
    ("aarch64", "arm", "pmull", &["-march=armv8-a+crypto"]),
];

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let native = root.join("native");
    let include = native.join("include");
    println!("cargo::rerun-if-changed={}", native.join("src").display());
    println!("cargo::rerun-if-changed={}", include.display());
    // For the build scripts of crates that depend on this one: where kuzma.h is.
    println!("cargo::metadata=include={}", include.display());

    let mut sources = c_files(&native.join("src"));
    sources.sort();
    assert!(!sources.is_empty(), "{} has no C files: is `native` a link here?", native.display());

    let base = base(&native);
    let mut library = base.clone();
    // As the Makefile: who wants no intrinsics may have a compiler that does not know the flags.
    let plain =
        base.get_compiler().args().iter().any(|word| word.to_string_lossy().starts_with("-DKUZMA_NO_INTRINSICS"));
    for source in &sources {
        let instructions = if plain { &[][..] } else { instructions(source) };
        if instructions.is_empty() {
            library.file(source);
            continue;
        }
        let mut special = base.clone();
        for flag in instructions {
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

fn base(native: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .include(native.join("include"))
        .include(native.join("src"))
        .std("c11")
        .define("_GNU_SOURCE", None)
        .flag("-fvisibility=hidden")
        // Whatever the profile: a cipher that was not optimised is of no use, even in tests.
        .opt_level(2)
        // The library's own `make lint` treats its warnings as errors; they are nothing to a user of this crate.
        .warnings(false);
    build
}

fn instructions(source: &Path) -> &'static [&'static str] {
    let target = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it");
    let name = source.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let folder = source.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    INSTRUCTIONS
        .iter()
        .find(|(architecture, of, start, _)| target == *architecture && folder == *of && name.starts_with(start))
        .map_or(&[], |(_, _, _, flags)| flags)
}

fn c_files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries
        .map(|entry| entry.expect("a folder that can be read").path())
        .flat_map(|path| if path.is_dir() { c_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect()
}
