//! What the machine's scripts print: lines of `name:text`, and on standard error why something has no text.

use std::collections::BTreeMap;

use stend_model::cause::Cause;

use crate::host::Output;

/// Before the name of what is to be counted, and of what is to be sorted and kept once.
const TALLY: &str = "tally";
const DISTINCT: &str = "distinct";

/// The texts that a script printed, by name: the path of a file without its leading slash, or a command.
#[derive(Debug, Default)]
pub(super) struct Texts {
    texts: BTreeMap<String, String>,
    reasons: BTreeMap<String, Cause>,
}

impl Texts {
    /// Sorts the lines of a script's output by name. Lines without a name are left out.
    pub(super) fn parse(output: &Output) -> Self {
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        // What many files say: the lines, each with how often it is there.
        let mut tallies: BTreeMap<String, BTreeMap<String, u32>> = BTreeMap::new();
        for line in output.text().lines() {
            // A device tree's strings end in NUL.
            let line = line.replace('\0', " ");
            let Some((name, text)) = line.split_once(':') else { continue };
            let text = text.trim_end();
            match name.split_once(' ') {
                Some((TALLY | DISTINCT, _)) => {
                    *tallies.entry(name.to_owned()).or_default().entry(text.to_owned()).or_default() += 1;
                }
                _ => {
                    let whole = texts.entry(name.to_owned()).or_default();
                    whole.push_str(text);
                    whole.push('\n');
                }
            }
        }
        for (name, lines) in tallies {
            let (how, name) = name.split_once(' ').expect("it was split there before");
            let whole = texts.entry(name.to_owned()).or_default();
            for (line, count) in lines {
                // As `sort | uniq -c` has it, by which older runs kept it.
                whole.push_str(&if how == TALLY { format!("{count:7} {line}\n") } else { format!("{line}\n") });
            }
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        let reasons = errors.lines().filter_map(|line| {
            let (kind, name) = line.split_once(": ")?;
            match kind {
                "gone" => Some((name.to_owned(), Cause::NotThere { file: source(name) })),
                "denied" => Some((name.to_owned(), Cause::NotReadable { file: source(name) })),
                "absent" => {
                    let (name, tool) = name.split_once(": ")?;
                    Some((name.to_owned(), Cause::ToolMissing { tool: tool.to_owned() }))
                }
                _ => None,
            }
        });
        Self { reasons: reasons.collect(), texts }
    }

    /// The text of this name without the white space around it, if there is any.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(|text| text.trim()).filter(|text| !text.is_empty())
    }

    /// The first line of the text of this name, if there is any.
    pub(super) fn line(&self, name: &str) -> Option<&str> {
        self.get(name)?.lines().next().map(str::trim)
    }

    /// Why there is no text of this name.
    pub(super) fn why(&self, name: &str) -> Cause {
        self.reasons.get(name).cloned().unwrap_or_else(|| Cause::Silent { sources: vec![source(name)] })
    }

    /// Names and texts below a directory, which is given with its last slash.
    pub(super) fn below<'a>(&'a self, directory: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.texts.iter().filter_map(move |(name, text)| Some((name.strip_prefix(directory)?, text.trim())))
    }

    /// All texts by name.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }
}

/// Where a text comes from: the path of a file, or a command, which has no directory in its name.
fn source(name: &str) -> String {
    let slash = if name.split(' ').next().is_some_and(|word| word.contains('/')) { "/" } else { "" };
    format!("{slash}{name}")
}

/// The lines of a tally: each with how often it was there.
pub(super) fn tallied(text: &str) -> Vec<(u32, &str)> {
    let line = |line: &'_ str| -> Option<(u32, usize)> {
        let trimmed = line.trim_start();
        let (count, _) = trimmed.split_once(' ')?;
        Some((count.parse().ok()?, line.len() - trimmed.len() + count.len()))
    };
    text.lines().filter_map(|text| line(text).map(|(count, end)| (count, text[end..].trim()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_sorted_by_name_and_reasons_kept() {
        let output = Output {
            exit: Some(0),
            stdout: b"proc/version:Linux: 5\nrubbish\nproc/version:more\nempty:\n".to_vec(),
            stderr: b"gone: sys/x\ndenied: sys/y\nabsent: ldd --version: ldd\n".to_vec(),
        };
        let texts = Texts::parse(&output);
        assert_eq!(texts.get("proc/version"), Some("Linux: 5\nmore"));
        assert_eq!(texts.line("proc/version"), Some("Linux: 5"));
        assert_eq!(texts.get("empty"), None);
        assert_eq!(texts.why("empty"), Cause::Silent { sources: vec!["empty".into()] });
        assert_eq!(texts.why("sys/x"), Cause::NotThere { file: "/sys/x".into() });
        assert_eq!(texts.why("sys/y"), Cause::NotReadable { file: "/sys/y".into() });
        assert_eq!(texts.why("ldd --version"), Cause::ToolMissing { tool: "ldd".into() });
    }

    #[test]
    fn tallies_have_counts() {
        let stdout = b"tally a*:x y\ntally a*:b\ntally a*:x y\ndistinct c:2\ndistinct c:1\ndistinct c:2\n".to_vec();
        let texts = Texts::parse(&Output { exit: Some(0), stdout, stderr: Vec::new() });
        assert_eq!(texts.get("a*").map(tallied), Some(vec![(1, "b"), (2, "x y")]));
        assert_eq!(texts.get("c"), Some("1\n2"));
        assert_eq!(tallied("      4 performance\n     12 schedutil\nx\n"), [(4, "performance"), (12, "schedutil")]);
    }
}
