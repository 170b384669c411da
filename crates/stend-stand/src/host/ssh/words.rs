//! What is said to a login shell over there, and what comes back: words that every shell takes alike.

use crate::host::LINK_DROPPED;

/// Words of what a login shell is told are at most so long, in bytes: csh takes no more than 1024.
const LONGEST_WORD: usize = 900;
/// So long is a byte as `printf %b` takes any of them.
const ESCAPED: usize = 5;
/// Stands between what a login shell says and what a command says.
pub(super) const MARK: &str = "stend: here it begins";
/// What ssh says of a machine whose host key is another one than it knows.
pub(super) const CHANGED_KEY: &str = "REMOTE HOST IDENTIFICATION HAS CHANGED";
/// What it says of one whose host key it does not know, and may not ask about.
const UNKNOWN_KEY: &str = "Host key verification failed";
/// What it says of a name that leads nowhere, before the name.
const UNKNOWN_NAME: &str = "Could not resolve hostname ";

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

/// ssh's complaint about the way to a destination in one line, before which the destination stands.
pub(super) fn in_words(complaint: &str, destination: &str) -> String {
    if complaint.contains(CHANGED_KEY) {
        // Debian's ssh says the whole command, with the file. All say what the key is kept under, which may be another name, or [address]:port.
        let lines = || complaint.lines().map(str::trim);
        let told = lines().find(|line| line.starts_with("ssh-keygen ") && line.contains(" -R ")).map(str::to_owned);
        let kept_under = || lines().find_map(|line| line.strip_prefix("Host key for ")?.split(" has changed").next());
        let command =
            told.unwrap_or_else(|| format!("ssh-keygen -R '{}'", kept_under().unwrap_or(host_of(destination))));
        return format!(
            "its host key has changed; if that is right, `{command}` removes the old one, else somebody is in between"
        );
    }
    let last = last_line(complaint).trim_start_matches("ssh: ");
    if last.starts_with(UNKNOWN_KEY) {
        return format!(
            "ssh does not know its host key yet; `ssh {destination}` shows it and asks whether it is right"
        );
    }
    if let Some((name, why)) = last.strip_prefix(UNKNOWN_NAME).and_then(|rest| rest.split_once(": ")) {
        let host = host_of(destination);
        // ssh's configuration may lead to another name than was asked for.
        let name = if name == host { "its name".to_owned() } else { format!("the name {name}") };
        return format!("{name} cannot be resolved: {why}");
    }
    last.strip_prefix(destination).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(last).to_owned()
}

/// A destination without the user.
fn host_of(destination: &str) -> &str {
    destination.rsplit('@').next().unwrap_or(destination)
}

/// What was said last, by ssh or by a login shell.
pub(super) fn last_line(said: &str) -> &str {
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty() && *line != MARK);
    lines.next_back().unwrap_or(LINK_DROPPED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ssh_complains_of_is_one_line_with_what_to_do() {
        let unknown = "No ED25519 host key is known for [board]:22 and you have requested strict checking.\r\nHost key verification failed.\r\n";
        for (complaint, said) in [
            (
                "ssh: Could not resolve hostname board: Name or service not known\r\n",
                "its name cannot be resolved: Name or service not known",
            ),
            (
                "ssh: Could not resolve hostname board.lan: Name or service not known\r\n",
                "the name board.lan cannot be resolved: Name or service not known",
            ),
            (unknown, "ssh does not know its host key yet; `ssh root@board` shows it and asks whether it is right"),
            (
                "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\nHost key for [board]:2222 has changed and you have \
                 requested strict checking.\r\nHost key verification failed.\r\n",
                "its host key has changed; if that is right, `ssh-keygen -R '[board]:2222'` removes the old one, else somebody is \
                 in between",
            ),
            ("root@board: Permission denied (publickey).\r\n", "Permission denied (publickey)."),
            ("", "the link dropped"),
        ] {
            assert_eq!(in_words(complaint, "root@board"), said, "{complaint}");
        }
    }
}
