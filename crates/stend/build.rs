//! Makes the suites, servers and references a part of the program: each TOML file of these folders, without a list of them anywhere else.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let mut code = String::new();
    for (list, folder) in [("SUITES", "suites"), ("SERVERS", "servers"), ("REFERENCES", "references")] {
        let folder = root.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files: Vec<_> =
            folder.read_dir()?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
        files.sort();
        writeln!(code, "pub(crate) static {list}: &[(&str, &str)] = &[")?;
        for file in files {
            let name = file.file_stem().ok_or("a file without a name")?.to_string_lossy();
            writeln!(code, "    ({name:?}, include_str!({:?})),", file.display().to_string())?;
        }
        writeln!(code, "];")?;
    }
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("catalogue.rs"), code)?;
    Ok(())
}
