//! The reports of real tools as they came, compressed. No table is computed from them, so they are read only for those who ask for them.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};

use super::error::Damage;
use super::error::Result;
use super::{Store, checksum};

/// No report is longer; what is kept of one is far less.
const LONGEST: u64 = 256 << 20;

/// Adds the report of a repeat.
pub(super) fn add(connection: &Connection, run: &str, sequence: u32, text: &str) -> rusqlite::Result<()> {
    let mut deflate = ZlibEncoder::new(Vec::new(), Compression::default());
    let data = deflate.write_all(text.as_bytes()).and_then(|()| deflate.finish());
    let data = data.expect("compressing in memory does not fail");
    let checksum = checksum::of([run.into(), ValueRef::Integer(sequence.into()), ValueRef::Blob(&data)]);
    let insert = "INSERT INTO own_report (run, sequence, data, checksum) VALUES (?1, ?2, ?3, ?4)";
    connection.execute(insert, params![run, sequence, data, checksum]).map(drop)
}

impl Store {
    /// The reports of a run with their repeats' sequence numbers, in order.
    pub fn own_reports(&self, id: &str) -> Result<Vec<(u32, String)>> {
        let explain = |error| self.explain_of(id, error);
        let query = "SELECT sequence, data, checksum FROM own_report WHERE run = ?1 ORDER BY sequence";
        let mut statement = self.connection.prepare(query).map_err(explain)?;
        let mut rows = statement.query([id]).map_err(explain)?;
        let mut reports = Vec::new();
        while let Some(row) = rows.next().map_err(explain)? {
            let sequence: u32 = row.get(0).map_err(explain)?;
            let damaged = |why| self.damaged(id, &format!("the report of repeat {sequence}"), why);
            if !checksum::holds(id, row, 2).map_err(explain)? {
                return Err(damaged(Damage::NotAsStored));
            }
            let data = row.get_ref(1).and_then(|data| Ok(data.as_blob()?)).map_err(explain)?;
            let mut text = String::new();
            ZlibDecoder::new(data)
                .take(LONGEST)
                .read_to_string(&mut text)
                .map_err(|error| damaged(Damage::Unread { said: error.to_string() }))?;
            reports.push((sequence, text));
        }
        Ok(reports)
    }
}
