//! What is read of files that anybody may have written. A small one can be packed so that it would fill any memory, and a device never ends.

use std::fs::File;
use std::io::{BufRead, Error, Read as _, Result};
use std::path::Path;

/// What a person writes by hand, a suite for example, is at most so long, in bytes.
const LONGEST_TEXT: u64 = 4 << 20;

/// A line is at most so long, in bytes.
const LONGEST_LINE: u64 = 256 << 20;
/// All lines together, in bytes.
const MOST_BYTES: u64 = 2 << 30;
/// Figures in all of them, or what else commas stand between: each takes 8 bytes of memory or more.
const MOST_FIGURES: u64 = 128 << 20;

fn too_much<T>(what: &str, limit: u64) -> Result<T> {
    Err(Error::other(format!("{what} is more than {limit}, and no more is read")))
}

/// Reads a file that a person wrote.
///
/// # Errors
/// It cannot be read, is no UTF-8, or is too long.
pub fn text(path: &Path) -> Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST_TEXT + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST_TEXT { too_much("its number of bytes", LONGEST_TEXT) } else { Ok(text) }
}

/// How much of a file is read.
#[derive(Debug, Clone, Copy)]
struct Limits {
    line: u64,
    bytes: u64,
    figures: u64,
}

/// Reads a file line by line, so far and no further.
pub struct Lines<R> {
    from: R,
    limits: Limits,
    bytes: u64,
    figures: u64,
}

impl<R: BufRead> Lines<R> {
    pub fn of(from: R) -> Self {
        Self::within(from, Limits { line: LONGEST_LINE, bytes: MOST_BYTES, figures: MOST_FIGURES })
    }

    fn within(from: R, limits: Limits) -> Self {
        Self { from, limits, bytes: 0, figures: 0 }
    }

    /// Reads the next line with its newline, if it has one; `false` at the end.
    ///
    /// # Errors
    /// It cannot be read, or is too much.
    pub fn next(&mut self, line: &mut Vec<u8>) -> Result<bool> {
        line.clear();
        let Limits { line: longest, bytes, figures } = self.limits;
        let room = longest.min(bytes - self.bytes);
        let count = (&mut self.from).take(room + 1).read_until(b'\n', line)? as u64;
        if count > longest {
            return too_much("a line's number of bytes", longest);
        }
        if count > room {
            return too_much("the number of bytes unpacked", bytes);
        }
        self.bytes += count;
        self.figures += line.iter().filter(|byte| **byte == b',').count() as u64;
        if self.figures > figures {
            return too_much("the number of figures", figures);
        }
        Ok(count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> std::result::Result<Vec<String>, String> {
        let mut lines = Lines::within(text.as_bytes(), Limits { line: 8, bytes: 20, figures: 6 });
        let (mut all, mut line) = (Vec::new(), Vec::new());
        while lines.next(&mut line).map_err(|error| error.to_string())? {
            all.push(String::from_utf8(line.clone()).unwrap());
        }
        Ok(all)
    }

    #[test]
    fn lines_bytes_and_figures_are_bounded_and_a_limit_is_named() {
        assert_eq!(read("1,2,3\n\n1234567\n1,2,3").unwrap(), ["1,2,3\n", "\n", "1234567\n", "1,2,3"]);
        assert_eq!(read("").unwrap(), Vec::<String>::new());
        for (text, limit) in
            [("a\n12345678\n", "8"), ("123456789", "8"), ("1234567\n1234567\n1234\n", "20"), ("1,,,\n,,,,", "6")]
        {
            let said = read(text).unwrap_err();
            assert!(said.contains(&format!("more than {limit},")), "{text:?}: {said}");
        }
        assert!(read("1234567\n1234567\n123\n").is_ok(), "just so many bytes");
        assert!(read("1,,,\n,,,").is_ok(), "just so many figures");
    }
}
