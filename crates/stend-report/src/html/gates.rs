//! What a repeat's gates looked at, with their limits.

use stend_model::run::Repeat;
use stend_model::suite::{Gate, Gates};

use crate::phrase::Phrase;
use crate::text::percent;
use crate::texts::TEXTS;

/// The head of a column: what was looked at, and its limit.
pub(super) struct GateHead {
    pub(super) name: Phrase,
    /// `≤ 5.0 %`; nothing where the gate is off.
    pub(super) limit: String,
}

/// The readings of a scenario's repeats, column by column.
pub(super) struct GatesView {
    pub(super) heads: Vec<GateHead>,
    /// For each repeat one text a column; `–` where it was not read.
    pub(super) readings: Vec<Vec<String>>,
}

/// One gate: its name, its limit, how its readings are written, and where they come from.
struct Column {
    name: &'static Phrase,
    limit: Option<Gate>,
    show: fn(f64) -> String,
    read: fn(&Repeat) -> Option<f64>,
}

/// Gates that no repeat has a reading for, because the machine does not tell, are left out.
pub(super) fn gates(gates: &Gates, repeats: &[&Repeat]) -> GatesView {
    let count = |value: f64| format!("{value}");
    let columns = [
        Column { name: &TEXTS.gate_steal, limit: gates.steal, show: percent, read: steal },
        Column { name: &TEXTS.gate_foreign, limit: gates.foreign_cpu, show: percent, read: foreign },
        Column { name: &TEXTS.gate_fall, limit: gates.frequency_fall, show: percent, read: fall },
        Column { name: &TEXTS.gate_swapping, limit: gates.swapping, show: count, read: swapped },
        Column { name: &TEXTS.gate_throttling, limit: gates.throttling, show: count, read: throttled },
    ];
    let read: Vec<_> =
        columns.into_iter().filter(|column| repeats.iter().any(|repeat| (column.read)(repeat).is_some())).collect();
    let head = |column: &Column| GateHead {
        name: column.name.clone(),
        limit: match column.limit {
            Some(Gate::Limit(limit)) => format!("≤ {}", (column.show)(limit)),
            _ => String::new(),
        },
    };
    let readings = |repeat: &&Repeat| {
        let one = |column: &Column| (column.read)(repeat).map_or_else(|| "–".to_owned(), column.show);
        read.iter().map(one).collect()
    };
    GatesView { heads: read.iter().map(head).collect(), readings: repeats.iter().map(readings).collect() }
}

fn share(repeat: &Repeat, part: fn(&stend_model::wire::MachineCpu) -> f64) -> Option<f64> {
    let cpu = repeat.usage.as_ref()?.machine_cpu().filter(|cpu| cpu.total_ns > 0.0)?;
    // Counted in ticks, little may look like less than nothing.
    Some((part(&cpu) / cpu.total_ns).max(0.0))
}

fn steal(repeat: &Repeat) -> Option<f64> {
    share(repeat, |cpu| cpu.steal_ns)
}

fn foreign(repeat: &Repeat) -> Option<f64> {
    share(repeat, |cpu| cpu.foreign_ns)
}

fn fall(repeat: &Repeat) -> Option<f64> {
    let observed = &repeat.report.as_ref()?.observed;
    Some((1.0 - observed.get("clock_hz_after")? / observed.get("clock_hz_before")?).max(0.0))
}

fn swapped(repeat: &Repeat) -> Option<f64> {
    repeat.usage.as_ref()?.machine.get("swapped_pages").copied()
}

fn throttled(repeat: &Repeat) -> Option<f64> {
    repeat.usage.as_ref()?.machine.get("throttles").copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn readings_stand_under_their_limits_and_unread_gates_are_left_out() {
        let mut data = example::run(0);
        data.repeats[1].usage = None;
        let repeats: Vec<_> = data.repeats.iter().take(2).collect();
        let view = gates(&Gates { foreign_cpu: Some(Gate::Off), ..Gates::DEFAULT }, &repeats);
        let heads: Vec<_> = view.heads.iter().map(|head| (head.name.english(), head.limit.as_str())).collect();
        assert_eq!(heads, [("Taken by the hypervisor", "≤ 1.0 %"), ("Used by others", ""), ("Pages swapped", "≤ 0")]);
        assert_eq!(view.readings, [["0.2 %", "1.0 %", "0"], ["–", "–", "–"]]);
        assert!(gates(&Gates::DEFAULT, &[]).heads.is_empty());
    }
}
