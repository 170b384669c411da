//! Which tests there are.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

/// A test, and how to start it.
#[derive(Debug)]
pub(crate) struct Test {
    /// The folder of its package, its program, and itself: `stend/it targets::a_pool`.
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    /// Where cargo starts it: its package.
    pub(crate) directory: PathBuf,
    /// As its program calls it.
    pub(crate) test: String,
}

/// All tests, but for those that are ignored, of all programs that cargo says it has built.
pub(crate) fn tests(messages: &str) -> Result<Vec<Test>> {
    let mut tests = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Value = serde_json::from_str(line).context("what cargo says")?;
        if message["profile"]["test"] != true {
            continue;
        }
        let Some(program) = message["executable"].as_str() else { continue };
        let manifest = message["manifest_path"].as_str().context("cargo names no manifest")?;
        let directory = Path::new(manifest).parent().context("a manifest in no directory")?;
        let package = directory.file_name().unwrap_or_default().to_string_lossy();
        let target = message["target"]["name"].as_str().unwrap_or_default();
        let program = Path::new(program);
        let ignored = list(program, directory, &["--ignored"])?;
        for test in list(program, directory, &[])?.into_iter().filter(|test| !ignored.contains(test)) {
            tests.push(Test {
                name: format!("{package}/{target} {test}"),
                program: program.to_owned(),
                directory: directory.to_owned(),
                test,
            });
        }
    }
    Ok(tests)
}

fn list(program: &Path, directory: &Path, which: &[&str]) -> Result<Vec<String>> {
    let named = || program.display().to_string();
    let output = Command::new(program)
        .args(["--list", "--format", "terse"])
        .args(which)
        .current_dir(directory)
        .output()
        .with_context(named)?;
    anyhow::ensure!(output.status.success(), "{} --list: {}", named(), output.status);
    let said = String::from_utf8_lossy(&output.stdout);
    Ok(said.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}
