//! What a publication says beside the base's own figures: bars, one block a scenario.

use super::{Figures, Kind, LEFT, WIDTH};
use crate::published::{Block, Publication};
use crate::scene::{Place, Role, Shape, level};
use crate::sheet::fitting;
use crate::svg::{SMALL, TITLE};
use crate::texts::TEXTS;
use stend_compare::table::Table;

/// From here bars begin; their labels stand to the left.
const BARS: f64 = 250.0;
/// The longest bar; its figure stands to the right.
const LONGEST: f64 = 440.0;
const LINE: f64 = 17.0;

impl Figures {
    /// A figure for each publication that has a number beside one of the base's.
    pub(super) fn published(&mut self, table: &Table) {
        for publication in Publication::all(table).iter().filter(|publication| !publication.blocks.is_empty()) {
            let (blocks, source) = (&publication.blocks, publication.source);
            let title = format!("{}: {}", self.say(&TEXTS.published), publication.name);
            let lines: usize = blocks.iter().map(|block| block.bars.len()).sum();
            let height = 60.0 + lines as f64 * LINE + blocks.len() as f64 * 34.0;
            let mut sheet = self.sheet(height, &title, source);
            sheet.text((LEFT, 43.0), "start", Role::Quiet, &fitting(source, SMALL, WIDTH - LEFT - 20.0));
            let mut y = 60.0;
            for block in blocks {
                let Block { row, bars } = block;
                y += 20.0;
                let head = format!("{}: {}", row.scenario, row.metric);
                sheet.text((LEFT, y), "start", Role::PartTitle, &fitting(&head, TITLE, WIDTH - LEFT));
                y += 6.0;
                let most = block.most();
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
            self.add(Kind::Published, publication.name, "published", title, sheet.finish());
        }
    }
}
