//! A document as Markdown, as GitHub reads it.

use std::fmt::Write as _;

use super::{Block, Cell, Doc, Line, Role, Side, Table, Value};

pub(super) fn write(doc: &Doc) -> String {
    let mut out = String::new();
    let mut is_list = false;
    for block in doc.body.iter().chain(&doc.foot) {
        let goes_on = is_list && matches!(block, Block::Lines(role, _) if is_in_a_list(*role));
        if !out.is_empty() && !out.ends_with("\n\n") && !goes_on && !matches!(block, Block::Trend(_)) {
            out.push('\n');
        }
        is_list = match block {
            Block::Heading(title, more) => {
                let more =
                    if more.english().is_empty() { String::new() } else { format!(" ({})", escape(more.english())) };
                let _ = writeln!(out, "**{}**{more}\n", escape(title.english()));
                false
            }
            Block::Lines(role, said) => {
                lines(&mut out, *role, said);
                is_in_a_list(*role)
            }
            Block::Table(wanted) => {
                table(&mut out, &wanted.without_drawings());
                false
            }
            Block::Trend(_) => is_list,
        };
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// What else is said stands in paragraphs.
fn is_in_a_list(role: Role) -> bool {
    !matches!(role, Role::Fact | Role::Answer | Role::More | Role::Legend)
}

fn lines(out: &mut String, role: Role, lines: &[Line]) {
    let said = lines.iter().map(|line| format!("{}{}", line.label, escape(line.said.english())));
    if role == Role::Legend {
        let sentences = said.map(|sentence| format!("{}.", sentence.trim_end_matches('.')));
        let _ = writeln!(out, "{}", sentences.collect::<Vec<_>>().join(" "));
        return;
    }
    if role == Role::Fact {
        let _ = writeln!(out, "{}", said.collect::<Vec<_>>().join("\\\n"));
        return;
    }
    for sentence in said {
        let _ = match role {
            Role::Answer | Role::More => writeln!(out, "{sentence}\n"),
            Role::Cause => writeln!(out, "  - {sentence}"),
            _ => writeln!(out, "- {sentence}"),
        };
    }
}

fn table(out: &mut String, table: &Table) {
    let heads = table.columns.iter().map(|column| column.head.clone());
    line(out, [table.corner[0].clone()].into_iter().chain(heads));
    let sides = table.columns.iter().map(|column| if column.side == Side::Left { "---" } else { "---:" });
    line(out, ["---"].into_iter().chain(sides).map(str::to_owned));
    for row in &table.rows {
        let label = if row.is_inner { format!("– {}", row.label()) } else { row.label() };
        line(out, [label].into_iter().chain(row.cells.iter().map(cell)));
    }
}

/// A figure with what it rests on, in one cell.
fn cell(cell: &Cell) -> String {
    let mut text = match &cell.value {
        Value::Absent => String::new(),
        Value::Lacking(why) if !why.english().is_empty() => format!("– ({})", why.english()),
        value => value.shown(),
    };
    let under = cell.under.shown();
    text += &match &cell.under {
        Value::Nothing => under,
        Value::Change { .. } | Value::Spread(_) => format!(" {under}"),
        Value::Factor(_, Some(_)) => format!(", {under}"),
        _ => format!(" ({under})"),
    };
    for note in &cell.notes {
        text = if text.is_empty() { note.english().to_string() } else { format!("{text} ({})", note.english()) };
    }
    text
}

fn line(out: &mut String, cells: impl Iterator<Item = String>) {
    out.push('|');
    for cell in cells {
        let _ = write!(out, " {} |", escape(&cell));
    }
    out.push('\n');
}

/// Text that Markdown takes literally, in one line.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => out.push(' '),
            '|' | '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '~' => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_the_table() {
        assert_eq!(escape("a|b\n<script>*"), "a\\|b \\<script\\>\\*");
    }
}
