//! Columns of text for a terminal: widths as a terminal counts them, colour apart from the text.

use super::text::width;
use stend_model::plain;

/// Space between two columns.
const GAP: &str = "  ";

/// How a piece of text stands out. Colours are those of Okabe and Ito, which colour-blind people tell apart too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Bold,
    Dim,
    /// Green, #009E73.
    Better,
    /// Orange, #E69F00.
    Worse,
}

const PLAIN_AGAIN: &str = "\u{1b}[0m";

impl Style {
    /// What a terminal is sent before text of this style.
    fn begin(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "\u{1b}[1m",
            Self::Dim => "\u{1b}[2m",
            Self::Better => "\u{1b}[38;2;0;158;115m",
            Self::Worse => "\u{1b}[38;2;230;159;0m",
        }
    }
}

/// All that the styles of text send to a terminal.
pub fn sequences() -> [&'static str; 5] {
    let [bold, dim, better, worse] = [Style::Bold, Style::Dim, Style::Better, Style::Worse].map(Style::begin);
    [bold, dim, better, worse, PLAIN_AGAIN]
}

/// Text with its style.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) style: Style,
}

impl Piece {
    /// The text between the escapes of its style; as it is without colour, and where it is empty.
    pub(super) fn styled(&self, text: &str, colour: bool) -> String {
        let begin = self.style.begin();
        if colour && !begin.is_empty() && !text.is_empty() {
            format!("{begin}{text}{PLAIN_AGAIN}")
        } else {
            text.into()
        }
    }
}

impl<T: Into<String>> From<T> for Piece {
    fn from(text: T) -> Self {
        piece(text, Style::Plain)
    }
}

/// A piece in a style.
pub(super) fn piece(text: impl Into<String>, style: Style) -> Piece {
    Piece { text: visible(&text.into()), style }
}

/// One line of a grid.
#[derive(Clone)]
enum Line {
    /// One piece for each column.
    Cells(Vec<Piece>),
    /// The first column, and one text over all the others.
    Span(Piece, Piece),
}

/// A grid. The first column is set left, the others right.
pub(super) struct Grid {
    head: Vec<String>,
    lines: Vec<Line>,
    /// Columns that may be left out, by their heads, in the order in which they go; each where not so much room is left for the first column, and with
    /// whether nobody misses it.
    optional: Vec<(String, usize, bool)>,
}

impl Grid {
    pub(super) fn new(head: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            head: head.into_iter().map(|text| visible(&text.into())).collect(),
            lines: Vec::new(),
            optional: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, cells: Vec<Piece>) {
        debug_assert_eq!(cells.len(), self.head.len());
        self.lines.push(Line::Cells(cells));
    }

    /// A line whose second text runs over all columns but the first.
    pub(super) fn push_span(&mut self, first: Piece, text: Piece) {
        self.lines.push(Line::Span(first, text));
    }

    /// Lets this column be left out where the others leave the first one less room than this. What is named first goes first.
    pub(super) fn may_leave_out(&mut self, head: &str, room: usize, is_spare: bool) {
        self.optional.push((head.to_owned(), room, is_spare));
    }

    /// Writes it at most `limit` wide, unless the figures that must stand are wider. A first column that leaves the others too little room gets
    /// a line of its own; columns that may be left out go where there is no room, and a last line says which.
    pub(super) fn write(&self, limit: usize, colour: bool) -> String {
        let (grid, left_out) = self.fitting(limit);
        let mut out = grid.written(limit, colour);
        if !left_out.is_empty() {
            let words = format!("no room here for: {}", left_out.join(", "));
            for line in wrap(&words, limit) {
                out.push_str(&piece(line, Style::Dim).in_style(colour));
                out.push('\n');
            }
        }
        out
    }

    /// Whether it is written without this column.
    pub(super) fn leaves_out(&self, head: &str, limit: usize) -> bool {
        self.fitting(limit).1.iter().any(|other| other == head)
    }

    /// The grid without the columns for which there is no room, and their heads.
    fn fitting(&self, limit: usize) -> (Self, Vec<String>) {
        let mut grid = Self { head: self.head.clone(), lines: self.lines.clone(), optional: Vec::new() };
        let mut left_out = Vec::new();
        for (head, room, is_spare) in &self.optional {
            let place = grid.head.iter().position(|other| other == head).filter(|place| *place > 0);
            let room = *room.max(&width(&grid.head[0]));
            let Some(place) = place.filter(|_| grid.figures_width() + room > limit) else { continue };
            let head = grid.head.remove(place);
            left_out.extend((!is_spare).then_some(head));
            for line in &mut grid.lines {
                if let Line::Cells(cells) = line {
                    cells.remove(place);
                }
            }
        }
        (grid, left_out)
    }

    fn written(&self, limit: usize, colour: bool) -> String {
        let (head, mut widths) = self.layout();
        let figures: usize = widths[1..].iter().map(|width| width + GAP.len()).sum();
        let first_limit = limit.saturating_sub(figures).max(width(&self.head[0]));
        widths[0] = self
            .lines
            .iter()
            .map(|line| width(&line.first().text))
            .chain([width(&self.head[0])])
            .filter(|width| *width <= first_limit)
            .max()
            .unwrap_or(first_limit);

        let mut out = String::new();
        let head_height = head.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..head_height {
            let cells = head.iter().map(|lines| {
                let text =
                    (line + lines.len()).checked_sub(head_height).map_or(String::new(), |line| lines[line].clone());
                piece(text, Style::Bold)
            });
            write_cells(&mut out, &cells.collect::<Vec<_>>(), &widths, colour);
        }
        let total = widths[0] + figures;
        out.push_str(&piece("─".repeat(total.min(limit.max(widths[0]))), Style::Dim).in_style(colour));
        out.push('\n');
        for line in &self.lines {
            let first = line.first();
            let alone = width(&first.text) > widths[0];
            if alone {
                for line in wrapped(&first.text, limit).lines() {
                    out.push_str(&first.styled(line, colour));
                    out.push('\n');
                }
            }
            let first = if alone { "".into() } else { first.clone() };
            match line {
                Line::Cells(cells) => {
                    let cells: Vec<_> = [first].into_iter().chain(cells[1..].iter().cloned()).collect();
                    write_cells(&mut out, &cells, &widths, colour);
                }
                // What has been written alone, and has nothing beside it, is no further line.
                Line::Span(_, text) if alone && text.text.is_empty() => {}
                Line::Span(_, text) => write_cells(&mut out, &[first, text.clone()], &widths, colour),
            }
        }
        out
    }

    /// How wide all columns but the first are together, with their gaps.
    pub(super) fn figures_width(&self) -> usize {
        self.layout().1[1..].iter().map(|width| width + GAP.len()).sum()
    }

    /// The head's lines, and the width of each column but the first.
    fn layout(&self) -> (Vec<Vec<String>>, Vec<usize>) {
        let mut widths: Vec<usize> = vec![0; self.head.len()];
        for line in &self.lines {
            if let Line::Cells(cells) = line {
                for (widest, cell) in widths.iter_mut().zip(cells).skip(1) {
                    *widest = (*widest).max(width(&cell.text));
                }
            }
        }
        let broken = |(index, text): (usize, &String)| {
            if index == 0 { vec![text.clone()] } else { wrap(text, widths[index].max(HEAD_WIDTH)) }
        };
        let head: Vec<Vec<String>> = self.head.iter().enumerate().map(broken).collect();
        for (widest, lines) in widths.iter_mut().zip(&head).skip(1) {
            *widest = (*widest).max(lines.iter().map(|line| width(line)).max().unwrap_or(0));
        }
        (head, widths)
    }
}

/// A head is broken at spaces and hyphens only where it is wider than this and than its column.
pub(super) const HEAD_WIDTH: usize = 10;

impl Line {
    fn first(&self) -> &Piece {
        match self {
            Self::Cells(cells) => &cells[0],
            Self::Span(first, _) => first,
        }
    }
}

impl Piece {
    fn in_style(&self, colour: bool) -> String {
        self.styled(&self.text, colour)
    }
}

fn write_cells(out: &mut String, cells: &[Piece], widths: &[usize], colour: bool) {
    let mut line = String::new();
    let mut pending = 0;
    for (index, cell) in cells.iter().enumerate() {
        let taken = width(&cell.text);
        let space = widths[index].saturating_sub(taken);
        if index > 0 {
            pending += GAP.len();
        }
        // The last text of a span is set left, as a sentence is.
        let right = index > 0 && cells.len() == widths.len();
        if right {
            pending += space;
        }
        if taken > 0 {
            line.extend(std::iter::repeat_n(' ', pending));
            line.push_str(&cell.in_style(colour));
            pending = 0;
        }
        if !right {
            pending += space;
        }
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

/// Text of one line that stands for itself alone: its width is what a terminal takes for it.
pub(super) fn visible(text: &str) -> String {
    plain::one_line(text).into_owned()
}

/// Text in lines of at most `limit`, broken at spaces, but not at those that hold a number together; a longer word stands alone.
pub(super) fn wrap(text: &str, limit: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() && c != '\u{a0}').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// Text with every line that is wider than `limit` broken at spaces; what goes on stands further in than the line began.
pub(crate) fn wrapped(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().map(str::trim_end) {
        let words = line.trim_start();
        let lead = &line[..line.len() - words.len()];
        if width(line) <= limit {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        for (number, part) in wrap(words, limit.saturating_sub(lead.len() + 2)).iter().enumerate() {
            out.push_str(lead);
            out.push_str(if number == 0 { "" } else { "  " });
            out.push_str(part);
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other_whatever_the_script() {
        let mut grid = Grid::new(["сценарий", "median"]);
        grid.push(vec!["Кузнечик".into(), "1 GB/s".into()]);
        grid.push(vec!["x".into(), piece("▲ × 2", Style::Better)]);
        assert_eq!(grid.write(80, false), "сценарий  median\n────────────────\nКузнечик  1 GB/s\nx          ▲ × 2\n");
        let coloured = grid.write(80, true);
        assert!(coloured.contains("\u{1b}[38;2;0;158;115m▲ × 2\u{1b}[0m"), "{coloured}");
    }

    #[test]
    fn a_long_first_column_gets_its_own_line() {
        let mut grid = Grid::new(["scenario", "median"]);
        grid.push(vec!["a scenario with a very long name".into(), "1 GB/s".into()]);
        let text = grid.write(24, false);
        assert!(text.lines().skip(2).eq(["a scenario with a very", "  long name", "          1 GB/s"]), "{text}");
    }

    #[test]
    fn names_stand_alone_before_figures_go_over_the_edge() {
        let mut grid = Grid::new(["run", "median"]);
        grid.push(vec!["a run".into(), "1 GB/s".into()]);
        grid.push(vec!["b".into(), "12345 GB/s".into()]);
        let text = grid.write(15, false);
        assert!(text.lines().all(|line| width(line) <= 15) && text.contains("a run\n"), "{text}");
    }

    #[test]
    fn nothing_beside_a_long_first_column_is_no_line() {
        let mut grid = Grid::new(["scenario", "median"]);
        grid.push(vec!["a scenario".into(), "1 GB/s".into()]);
        grid.push_span("  62 % of a very long name".into(), "".into());
        grid.push(vec!["another".into(), "2 GB/s".into()]);
        let text = grid.write(24, false);
        assert!(text.lines().all(|line| !line.is_empty()) && text.lines().count() == 6, "{text}");
    }

    #[test]
    fn columns_that_have_no_room_go_in_their_order_and_are_named() {
        let mut grid = Grid::new(["run", "median", "spread", "n"]);
        grid.push(vec!["a".into(), "1 GB/s".into(), "±1 %".into(), "12".into()]);
        for (head, room) in [("spread", 10), ("n", 0), ("run", 0)] {
            grid.may_leave_out(head, room, false);
        }
        let head =
            |limit| grid.write(limit, false).lines().next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!([30, 29, 15, 14].map(head), ["run median spread n", "run median n", "run median n", "run median"]);
        assert!(!grid.write(30, false).contains("no room"));
        assert!(grid.write(29, false).ends_with("\nno room here for: spread\n"));
        let narrow = grid.write(14, false);
        assert!(narrow.contains("no room here") && narrow.lines().all(|line| width(line) <= 14), "{narrow}");
        assert!(grid.leaves_out("n", 14) && !grid.leaves_out("n", 15));
    }

    #[test]
    fn a_name_cannot_move_the_cursor() {
        assert_eq!(piece("a\u{1b}[2Jb\n", Style::Plain).text, "a\u{fffd}[2Jb\u{fffd}");
    }
}
