//! What the machine's scripts print: lines of `name:text`, and on standard error why something has no text.

use std::collections::BTreeMap;

use crate::host::Output;

/// The texts that a script printed, by name: the path of a file without its leading slash, or a command.
#[derive(Debug, Default)]
pub(super) struct Texts {
    texts: BTreeMap<String, String>,
    reasons: BTreeMap<String, String>,
}

impl Texts {
    /// Sorts the lines of a script's output by name. Lines without a name are left out.
    pub(super) fn parse(output: &Output) -> Self {
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        for line in output.text().lines() {
            // A device tree's strings end in NUL.
            let line = line.replace('\0', " ");
            if let Some((name, text)) = line.split_once(':') {
                let whole = texts.entry(name.to_owned()).or_default();
                whole.push_str(text.trim_end());
                whole.push('\n');
            }
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        let reasons = errors.lines().filter_map(|line| {
            let (name, reason) = line.strip_prefix("grep: ")?.split_once(": ")?;
            Some((name.to_owned(), reason.trim().to_owned()))
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

    /// Why there is no text of this name, in the words of the machine where it gave some.
    pub(super) fn why(&self, name: &str) -> String {
        let reason = self.reasons.get(name).map_or("it says nothing", String::as_str);
        // Commands have no directory in their name.
        let slash = if name.split(' ').next().is_some_and(|word| word.contains('/')) { "/" } else { "" };
        format!("{slash}{name}: {reason}")
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

/// The lines that `sort | uniq -c` made of many: each with how often it was there.
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
            stderr: b"grep: sys/x: No such file or directory\ngrep: ldd --version: ldd is not on the PATH\n".to_vec(),
        };
        let texts = Texts::parse(&output);
        assert_eq!(texts.get("proc/version"), Some("Linux: 5\nmore"));
        assert_eq!(texts.line("proc/version"), Some("Linux: 5"));
        assert_eq!(texts.get("empty"), None);
        assert_eq!(texts.why("empty"), "empty: it says nothing");
        assert_eq!(texts.why("sys/x"), "/sys/x: No such file or directory");
        assert_eq!(texts.why("ldd --version"), "ldd --version: ldd is not on the PATH");
    }

    #[test]
    fn tallies_have_counts() {
        assert_eq!(tallied("      4 performance\n     12 schedutil\nx\n"), [(4, "performance"), (12, "schedutil")]);
    }
}
