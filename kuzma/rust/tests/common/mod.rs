//! Reads the vector files of the C library; their format is described at the head of published.txt.

use std::collections::BTreeMap;

/// One test case.
pub(crate) struct Case {
    /// Where it is and where it comes from, for messages.
    pub(crate) title: String,
    pub(crate) cipher: String,
    pub(crate) mode: String,
    values: BTreeMap<String, String>,
}

impl Case {
    /// The value called `name`, as it stands in the file, without spaces.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.values.get(name).unwrap_or_else(|| panic!("{}: no {name}", self.title))
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        let digits = self.text(name);
        assert!(digits.len().is_multiple_of(2), "{}: {name}", self.title);
        let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap_or_else(|_| panic!("{}", self.title));
        (0..digits.len()).step_by(2).map(byte).collect()
    }

    pub(crate) fn number(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or_else(|_| panic!("{}: {name}", self.title))
    }
}

/// All cases of both files.
pub(crate) fn cases() -> Vec<Case> {
    let files = [
        ("published.txt", include_str!("../../c/vectors/published.txt")),
        ("generated.txt", include_str!("../../c/vectors/generated.txt")),
    ];
    files.iter().flat_map(|(name, text)| read(name, text)).collect()
}

fn read(file: &str, text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut last = String::new();
    for (line, content) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let place = format!("{file}:{}", line + 1);
        if let Some(heading) = content.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let (cipher, mode) = heading.split_once(' ').expect(&place);
            let (cipher, mode) = (cipher.to_owned(), mode.to_owned());
            cases.push(Case { title: place, cipher, mode, values: BTreeMap::new() });
            continue;
        }
        let values = &mut cases.last_mut().expect(&place).values;
        if let Some(more) = content.strip_prefix(' ') {
            values.get_mut(&last).expect(&place).push_str(more.trim());
        } else {
            let (name, value) = content.split_once(" =").expect(&place);
            last = name.to_owned();
            assert!(values.insert(last.clone(), value.trim().to_owned()).is_none(), "{place}: {name} twice");
        }
    }
    cases
}
