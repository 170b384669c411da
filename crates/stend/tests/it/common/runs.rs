//! A store of forged runs, and what `stend compare` says of them.

use serde_json::Value;

use super::forge::{Forged, Mould, times};
use super::{Ended, Stand};

pub(crate) const A: &str = "20260101-0000-000a";
pub(crate) const B: &str = "20260201-0000-000b";
pub(crate) const C: &str = "20260301-0000-000c";
pub(crate) const D: &str = "20260401-0000-000d";

/// A store of forged runs.
pub(crate) struct Runs {
    pub(crate) stand: Stand,
    pub(crate) mould: Mould,
}

impl Runs {
    pub(crate) fn new() -> Self {
        let (stand, mould) = super::with_mould();
        Self { stand, mould }
    }

    /// Ten repeats of each scenario, about these milliseconds.
    pub(crate) fn run(&self, id: &str, scenarios: &[(&str, f64)]) -> Forged {
        let scenarios: Vec<_> = scenarios.iter().map(|(name, middle)| (*name, times(*middle, 0.004, 10))).collect();
        self.mould.run(id, &scenarios)
    }

    pub(crate) fn add(&self, runs: &[Forged]) {
        let paths: Vec<_> = (0..runs.len()).map(|place| self.stand.path().join(format!("{place}.gz"))).collect();
        runs.iter().zip(&paths).for_each(|(run, path)| run.write(path));
        let mut arguments = vec!["import"];
        arguments.extend(paths.iter().map(|path| path.to_str().unwrap()));
        self.stand.fine(&arguments);
    }

    pub(crate) fn compare(&self, arguments: &[&str]) -> Ended {
        self.stand.run(&[&["compare"], arguments].concat())
    }

    pub(crate) fn table(&self, arguments: &[&str]) -> Value {
        self.stand.json(&[&["compare"], arguments].concat())["table"].clone()
    }

    pub(crate) fn titles(&self, arguments: &[&str]) -> Vec<String> {
        let table = self.table(arguments);
        let columns = table["columns"].as_array().unwrap().iter().filter(|column| column["origin"]["kind"] == "run");
        columns.map(|column| column["title"].as_str().unwrap().to_owned()).collect()
    }

    /// Refused with one line that says all this.
    pub(crate) fn refused(&self, arguments: &[&str], parts: &[&str]) {
        self.stand.refused(&[&["compare"], arguments].concat(), parts);
    }
}

/// What is printed, however its lines are broken.
pub(crate) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn verdicts(table: &Value) -> Vec<String> {
    let rows = table["rows"].as_array().unwrap();
    let of = |row: &Value| row["cells"][1]["against_base"]["verdict"].as_str().unwrap_or("none").to_owned();
    rows.iter().map(of).collect()
}
