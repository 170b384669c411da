//! What a publication says beside the base's own figures: bars, one block a scenario.

use super::{Figures, Kind, LEFT, WIDTH};
use crate::scene::{Place, Role, Shape, level};
use crate::sheet::fitting;
use crate::svg::{SMALL, TITLE};
use crate::text;
use crate::texts::TEXTS;
use stend_compare::table::{Cell, Column, ColumnOrigin, Row, Table};

/// From here bars begin; their labels stand to the left.
const BARS: f64 = 250.0;
/// The longest bar; its figure stands to the right.
const LONGEST: f64 = 440.0;
const LINE: f64 = 17.0;

/// A bar: whose figure, the figure, its interval if it was measured.
struct Bar<'a> {
    label: &'a str,
    value: f64,
    measured: Option<(f64, f64)>,
    own: bool,
}

impl Figures {
    /// A figure for each publication that has a number beside one of the base's.
    pub(super) fn published(&mut self, table: &Table) {
        let rows: Vec<&Row> = table.rows.iter().filter(|row| row.main).collect();
        for (reference, columns) in text::references(table, &rows) {
            let blocks: Vec<_> = rows.iter().filter_map(|row| Some((*row, bars(table, row, &columns)?))).collect();
            if blocks.is_empty() {
                continue;
            }
            let title = format!("{}: {reference}", self.say(&TEXTS.published));
            let source = source(columns.first().map(|(_, column)| *column));
            let lines: usize = blocks.iter().map(|(_, bars)| bars.len()).sum();
            let height = 60.0 + lines as f64 * LINE + blocks.len() as f64 * 34.0;
            let mut sheet = self.sheet(height, &title, source);
            sheet.text((LEFT, 43.0), "start", Role::Quiet, &fitting(source, SMALL, WIDTH - LEFT - 20.0));
            let mut y = 60.0;
            for (row, bars) in &blocks {
                y += 20.0;
                let head = format!("{}: {}", row.scenario, row.metric);
                sheet.text((LEFT, y), "start", Role::PartTitle, &fitting(&head, TITLE, WIDTH - LEFT));
                y += 6.0;
                let most = bars.iter().map(|bar| bar.measured.map_or(bar.value, |(_, high)| high)).fold(0.0, f64::max);
                for bar in bars {
                    let long = |value: f64| (value / most * LONGEST).max(0.0);
                    let label = fitting(bar.label, SMALL, BARS - LEFT - 8.0 + 60.0);
                    sheet.text((BARS - 8.0, y + 12.0), "end", Role::Said, &label);
                    let place = Place { left: BARS, top: y + 2.0, width: long(bar.value), height: LINE - 5.0 };
                    sheet.push(Role::Bar { own: bar.own }, Shape::Rectangle(place));
                    if let Some((low, high)) = bar.measured {
                        sheet.push(Role::BarInterval, level(BARS + long(low), BARS + long(high), y + LINE / 2.0));
                    }
                    let end = BARS + bar.measured.map_or(long(bar.value), |(_, high)| long(high));
                    sheet.figure((end + 6.0, y + 12.0), "start", Role::Said, &row.unit.show(bar.value));
                    y += LINE;
                }
                sheet.push(Role::Rule, Shape::Path(vec![vec![(BARS, y - bars.len() as f64 * LINE), (BARS, y)]]));
                y += 8.0;
            }
            self.add(Kind::Published, reference, "published", title, sheet.finish());
        }
    }
}

/// The base's bar and those of a publication's machines; none unless both have a number.
fn bars<'a>(table: &'a Table, row: &'a Row, columns: &[(usize, &'a Column)]) -> Option<Vec<Bar<'a>>> {
    let Some(Cell::Measured(own)) = row.cells.first() else { return None };
    let label = &table.columns.first()?.title;
    let mut bars = vec![Bar { label, value: own.median, measured: own.interval, own: true }];
    for (index, column) in columns {
        if let Some(Cell::Published(published)) = row.cells.get(*index)
            && let Some(value) = published.value
        {
            bars.push(Bar { label: &column.title, value, measured: None, own: false });
        }
    }
    (bars.len() > 1).then_some(bars)
}

fn source(column: Option<&Column>) -> &str {
    match column.map(|column| &column.origin) {
        Some(ColumnOrigin::Published { source, .. }) => source,
        _ => "",
    }
}
