//! Makes the suites, servers, images and references a part of the program: each TOML file of these folders, without a list of them anywhere else; and of the
//! folder of a suite's name beside it each file.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let (mut code, mut beside) =
        (String::new(), String::from("pub(crate) static SUITE_FILES: &[(&str, &str, &str)] = &[\n"));
    for (list, folder) in
        [("SUITES", "suites"), ("SERVERS", "servers"), ("IMAGES", "images"), ("REFERENCES", "references")]
    {
        let folder = root.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        writeln!(code, "pub(crate) static {list}: &[(&str, &str)] = &[")?;
        for file in files(&folder)? {
            if file.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let name = file.file_stem().ok_or("a file without a name")?.to_string_lossy();
            writeln!(code, "    ({name:?}, include_str!({:?})),", file.display().to_string())?;
            let own = file.with_extension("");
            for file in if own.is_dir() { files(&own)? } else { Vec::new() } {
                let path = file.strip_prefix(&folder)?.to_string_lossy();
                writeln!(beside, "    ({name:?}, {path:?}, include_str!({:?})),", file.display().to_string())?;
            }
        }
        writeln!(code, "];")?;
    }
    // Linked for one address, it starts without 240 000 places in it being set first. Tests start it thousands of times.
    if std::env::var("PROFILE")? == "debug" && std::env::var("CARGO_CFG_TARGET_ENV")? == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("catalogue.rs"), code + &beside + "];\n")?;
    Ok(())
}

/// The files in a folder, without what is below it.
fn files(folder: &Path) -> Result<Vec<PathBuf>, std::io::Error> {
    let mut files: Vec<_> = folder.read_dir()?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    files.retain(|file| file.is_file());
    files.sort();
    Ok(files)
}
