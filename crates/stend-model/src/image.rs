//! Images of guests: what is installed on the disk that a virtual machine boots from, as a person describes it in TOML.
//!
//! An image is made of a distribution's packages by mmdebstrap. `docs/guide/virtual.md` explains the keys.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::position::{TomlError, line_and_column, offset_of_key, parse_toml};
use crate::quantity::Size;

/// Bytes of one file: each is handed to a shell as an argument.
const LONGEST_FILE: usize = 64 << 10;
const MOST_FILES: usize = 64;
const MOST_PACKAGES: usize = 256;
const LEAST_SIZE: Size = Size(1 << 30);
const MOST_SIZE: Size = Size(1 << 40);

/// An image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "An image of stend")]
pub struct Image {
    /// What it is, in a sentence.
    pub title: String,
    /// The distribution's release by its code name: `bookworm`.
    pub release: String,
    /// The architecture of the guests that it is for.
    pub architecture: Architecture,
    /// Where the packages come from, if not from Debian's own archive: the archive's URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror: Option<String>,
    /// The packages, each with all that it depends on. A kernel must be one of them.
    pub packages: Vec<String>,
    /// The size of the disk. Space that the guest has not written takes none here.
    pub size: Size,
    /// Units that are not started by themselves when a guest boots, so that what a package brings does not run beside what is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disable: Vec<String>,
    /// Files that are added, by their paths from the root of the guest's file system.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// An architecture of guests, by Debian's name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// x86-64.
    #[default]
    Amd64,
    /// AArch64.
    Arm64,
}

impl Architecture {
    /// The name that the kernel has for it, as in `uname -m`.
    pub fn of_kernel(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64",
            Self::Arm64 => "aarch64",
        }
    }

    /// Debian's name.
    pub fn of_debian(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }
}

/// An image that cannot be used. The message is one line and says where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImageError {
    /// TOML does not read it.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// It cannot be made.
    #[error("{file}:{line}:{column}: {mistake}")]
    InFile {
        /// The file as the user knows it.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        mistake: ImageMistake,
    },
}

/// What is wrong with an image.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImageMistake {
    /// Not a release's name.
    #[error("\"{0}\" is no release; write its code name: bookworm")]
    Release(String),
    /// Not a URL.
    #[error("\"{0}\" is no archive; write its URL: http://deb.debian.org/debian")]
    Mirror(String),
    /// Not a package's name.
    #[error("\"{0}\" is no package's name; it has lower-case letters, digits and + - .")]
    Package(String),
    /// Too many of them, or none.
    #[error("there are {0} packages; it may be 1 to {MOST_PACKAGES}")]
    Packages(usize),
    /// The disk is too small, or too large.
    #[error("it is {0}; it may be {LEAST_SIZE} to {MOST_SIZE}")]
    Bounds(Size),
    /// Not a unit's name.
    #[error("\"{0}\" is no unit's name; write it as systemctl does: postgresql.service")]
    Unit(String),
    /// Not a path in the guest.
    #[error("\"{0}\" is no path from the guest's root; write it without the first /, as in etc/motd")]
    File(String),
    /// A file that is too long, or too many.
    #[error("an image has at most {MOST_FILES} files of {} KiB each", LONGEST_FILE >> 10)]
    MuchText,
}

impl Image {
    /// Reads an image's text.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &str, file: &str) -> Result<Self, ImageError> {
        let image: Self = parse_toml(text, file)?;
        image.check().map_err(|(key, mistake)| {
            let (line, column) = line_and_column(text, offset_of_key(text, key));
            ImageError::InFile { file: file.into(), line, column, mistake }
        })?;
        Ok(image)
    }

    fn check(&self) -> Result<(), (&'static str, ImageMistake)> {
        let is_made_of = |text: &str, others: &str| {
            text.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
                && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || others.contains(c))
        };
        if !is_made_of(&self.release, "-.") {
            return Err(("release", ImageMistake::Release(self.release.clone())));
        }
        let is_archive = |url: &String| {
            ["http://", "https://", "file:///"].iter().any(|scheme| url.starts_with(scheme))
                && !url.chars().any(|c| c.is_whitespace() || c.is_control() || "[]".contains(c))
        };
        if let Some(mirror) = self.mirror.as_ref().filter(|url| !is_archive(url)) {
            return Err(("mirror", ImageMistake::Mirror(mirror.clone())));
        }
        if !(1..=MOST_PACKAGES).contains(&self.packages.len()) {
            return Err(("packages", ImageMistake::Packages(self.packages.len())));
        }
        if let Some(package) = self.packages.iter().find(|package| !is_made_of(package, "+-.")) {
            return Err(("packages", ImageMistake::Package(package.clone())));
        }
        if !(LEAST_SIZE..=MOST_SIZE).contains(&self.size) {
            return Err(("size", ImageMistake::Bounds(self.size)));
        }
        let is_unit = |unit: &str| {
            !unit.starts_with('-') && unit.chars().all(|c| c.is_ascii_alphanumeric() || "-_.@".contains(c))
        };
        if let Some(unit) = self.disable.iter().find(|unit| !is_unit(unit)) {
            return Err(("disable", ImageMistake::Unit(unit.clone())));
        }
        let is_plain = |part: &str| !["", ".", ".."].contains(&part) && !part.chars().any(char::is_control);
        if let Some(name) = self.files.keys().find(|name| !name.split('/').all(is_plain)) {
            return Err(("files", ImageMistake::File(name.clone())));
        }
        if self.files.len() > MOST_FILES || self.files.values().any(|text| text.len() > LONGEST_FILE) {
            return Err(("files", ImageMistake::MuchText));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "title = \"t\"\nrelease = \"bookworm\"\narchitecture = \"amd64\"\npackages = [\"linux-image-amd64\"]\nsize = \"2GiB\"\n";

    #[test]
    fn mistakes_are_told_with_their_place() {
        assert!(Image::parse(GOOD, "i.toml").is_ok());
        for (change, said) in [
            (("bookworm", "book worm"), "i.toml:2:1: \"book worm\" is no release"),
            (("amd64\"\np", "mips\"\np"), "i.toml:3:16: \"mips\" is not known here; it may be amd64, arm64"),
            (("linux-image-amd64", "-o Evil=1"), "i.toml:4:1: \"-o Evil=1\" is no package's name"),
            (("[\"linux-image-amd64\"]", "[]"), "i.toml:4:1: there are 0 packages"),
            (("2GiB", "2MiB"), "i.toml:5:1: it is 2MiB"),
            (("size", "mirror = \"ftp://x\"\nsize"), "i.toml:5:1: \"ftp://x\" is no archive"),
            (("size", "disable = [\"a b\"]\nsize"), "i.toml:5:1: \"a b\" is no unit's name"),
            (("GiB\"\n", "GiB\"\n[files]\n\"../x\" = \"\""), "i.toml:6:1: \"../x\" is no path"),
            (("title", "colour = 1\ntitle"), "i.toml:1:1: unknown field `colour`"),
        ] {
            let error = Image::parse(&GOOD.replacen(change.0, change.1, 1), "i.toml").unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
