//! A checksum beside what is stored: SQLite has none of its own, and a byte that a disk or its memory got wrong would pass for a measurement.

use flate2::Crc;
use rusqlite::Row;
use rusqlite::types::ValueRef;

/// CRC-32 of these values, each with its kind and its length.
pub(super) fn of<'v>(values: impl IntoIterator<Item = ValueRef<'v>>) -> i64 {
    let mut crc = Crc::new();
    for value in values {
        let (kind, bytes) = match value {
            ValueRef::Null => (b'n', &[][..]),
            ValueRef::Integer(number) => (b'i', &number.to_le_bytes()[..]),
            ValueRef::Real(number) => (b'r', &number.to_le_bytes()[..]),
            ValueRef::Text(text) => (b't', text),
            ValueRef::Blob(blob) => (b'b', blob),
        };
        crc.update(&[kind]);
        crc.update(&(bytes.len() as u64).to_le_bytes());
        crc.update(bytes);
    }
    crc.sum().into()
}

/// Whether a row of this run is as it was stored: the column at this place is the checksum of the run's id and of the columns before.
///
/// # Errors
/// SQLite cannot read the row.
pub(super) fn holds(run: &str, row: &Row, place: usize) -> rusqlite::Result<bool> {
    let values: Vec<_> = (0..place).map(|column| row.get_ref(column)).collect::<Result<_, _>>()?;
    let stored = row.get_ref(place)?;
    Ok(stored == ValueRef::Integer(of([ValueRef::from(run)].into_iter().chain(values))))
}
