//! Removes runs by the rule of the settings, as `stend rm` does.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use stend_model::quantity::{parse_duration, parse_size};

use crate::database::Edit;
use crate::health::{Places, is_measured};
use crate::lab::Lab;
use crate::work;

/// How often runs are looked through.
const EVERY: Duration = Duration::from_secs(6 * 3600);

/// How soon again, where a run was being measured: removing works the disk.
const SOON: Duration = Duration::from_secs(60);

/// Which runs are removed: finished ones without a label.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Retention {
    /// Those that began longer ago.
    older_than: Option<String>,
    /// The oldest, until all together take no more.
    to_size: Option<String>,
}

impl Retention {
    /// What is wrong with it.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.older_than.is_none() && self.to_size.is_none() {
            return Err("retention: give older_than or to_size".into());
        }
        let time = self.older_than.as_ref().map(|text| parse_duration(text).map_err(|error| error.to_string()));
        let size = self.to_size.as_ref().map(|text| parse_size(text).map_err(|error| error.to_string()));
        time.transpose().map_err(|why| format!("retention: older_than: {why}"))?;
        size.transpose().map_err(|why| format!("retention: to_size: {why}"))?;
        Ok(())
    }

    fn words(&self) -> Vec<String> {
        let mut words = vec!["rm".to_owned()];
        words.extend(self.older_than.iter().map(|time| format!("--older-than={time}")));
        words.extend(self.to_size.iter().map(|size| format!("--to-size={size}")));
        words
    }
}

/// Removes what is to be removed, for ever.
pub(crate) async fn keep(lab: Arc<Lab>, retention: Retention) {
    let lock = Places::here().lock;
    loop {
        if is_measured(&lock) {
            tokio::time::sleep(SOON).await;
            continue;
        }
        // What cannot be removed now may be later; a store without runs has none to remove.
        let said = work::said(&lab, retention.words()).await.unwrap_or_default();
        let removed = said.lines().filter_map(|line| line.strip_prefix("removed: run ")?.split([' ', ',']).next());
        let removed: Vec<String> = removed.map(str::to_owned).collect();
        // In a fleet the command has noted it.
        if !removed.is_empty() && lab.fleet.is_none() {
            let note = move |edit: &mut Edit| {
                edit.note_removed(&removed.iter().map(String::as_str).collect::<Vec<_>>(), None);
                Ok(())
            };
            let _ = lab.change(note).await;
        }
        tokio::time::sleep(EVERY).await;
    }
}
