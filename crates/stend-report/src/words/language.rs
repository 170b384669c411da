//! The languages in which people are spoken to, and how each counts.

/// A language of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    English,
    Russian,
}

impl Language {
    /// Its code in BCP 47, as HTML and XML name it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Russian => "ru",
        }
    }
}

/// The form of a Russian noun after a number: 1 сценарий, 2 сценария, 5 сценариев, 11 сценариев, 21 сценарий.
pub fn russian_plural<'a>(number: usize, one: &'a str, few: &'a str, many: &'a str) -> &'a str {
    match (number % 100, number % 10) {
        (11..=14, _) => many,
        (_, 1) => one,
        (_, 2..=4) => few,
        _ => many,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn russian_nouns_follow_their_number() {
        let forms: Vec<_> = [1, 2, 5, 11, 12, 21, 22, 25, 111, 0].map(|n| russian_plural(n, "1", "2", "5")).into();
        assert_eq!(forms.concat(), "1255512555");
    }
}
