//! What is said to a login shell over there, and what comes back: words that every shell takes alike.

/// Words of what a login shell is told are at most so long, in bytes: csh takes no more than 1024.
const LONGEST_WORD: usize = 900;
/// So long is a byte as `printf %b` takes any of them.
const ESCAPED: usize = 5;
/// Stands between what a login shell says and what a command says.
pub(super) const MARK: &str = "stend: here it begins";
/// What is said where ssh says nothing.
pub(super) const LINK_DROPPED: &str = "the link dropped";
/// What ssh says of a machine whose host key is another one than it knows.
pub(super) const CHANGED_KEY: &str = "REMOTE HOST IDENTIFICATION HAS CHANGED";

pub(super) fn marked(script: &str) -> String {
    format!("printf '%s\\n' '{MARK}'\nprintf '%s\\n' '{MARK}' >&2\n{script}\n")
}

/// What came after the mark, if it came.
pub(super) fn after_mark(bytes: &[u8]) -> Option<&[u8]> {
    let mark = [MARK.as_bytes(), b"\n"].concat();
    let at = bytes.windows(mark.len()).position(|window| window == mark)?;
    Some(&bytes[at + mark.len()..])
}

/// A word as a POSIX shell takes it literally.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

pub(super) fn all_quoted(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A text as `printf %b` gives it back, in words of characters that no shell takes for anything else within single quotes.
pub(super) fn spelled(text: &[u8]) -> String {
    let mut spelled = String::with_capacity(text.len() * 2);
    let mut length = LONGEST_WORD;
    for &byte in text {
        let plain = byte.is_ascii_alphanumeric() || b" /.,:=_-+".contains(&byte);
        let more = if plain { 1 } else { ESCAPED };
        if length + more > LONGEST_WORD {
            spelled += if spelled.is_empty() { "'" } else { "' '" };
            length = 0;
        }
        length += more;
        if plain { spelled.push(char::from(byte)) } else { spelled += &format!("\\0{byte:03o}") }
    }
    spelled + "'"
}

/// ssh's complaint in one line.
pub(super) fn in_words(complaint: &str) -> String {
    if complaint.contains(CHANGED_KEY) {
        return "its host key has changed; if that is right, remove the old one with ssh-keygen -R, else somebody is in between".into();
    }
    let mut lines = complaint.lines().map(str::trim).filter(|line| !line.is_empty() && *line != MARK);
    let last = lines.next_back().unwrap_or(LINK_DROPPED);
    last.trim_start_matches("ssh: ").to_owned()
}
