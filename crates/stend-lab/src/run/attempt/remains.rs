//! What is left of a pool that has failed: it is brought up again and read, and what of the load is lost is noted in the repeat.

use stend_model::cause::Cause;
use stend_model::suite::{Action, Part, Scenario};
use stend_model::wire::Check;

use super::{ALONE, Attempt, Attempts, ended_badly};
use stend_instrument::{Adapter, Block, Files, Invocation, Remains};
use stend_stand::host::Command;

impl Attempts<'_> {
    /// Reads what is left of a pool that has failed, and notes what of the load is lost. `load`: the files that it left. `false` if the user
    /// interrupted it.
    pub(super) fn read_again(
        &self,
        scenario: &Scenario,
        adapter: &dyn Adapter,
        load: &Files,
        attempt: &mut Attempt,
    ) -> anyhow::Result<bool> {
        let (Some(injector), Some(_)) = (&self.injector, &attempt.report) else { return Ok(true) };
        // What was to happen did not.
        if !attempt.causes.is_empty() || attempt.broken.is_some() {
            return Ok(true);
        }
        let lost = scenario.faults.iter().filter_map(|fault| match (fault.part, fault.action) {
            (Part::Disk(number), Action::Lose) => Some(number),
            _ => None,
        });
        let mut read = Ok(Files::new());
        let left = injector.what_is_left(&lost.collect()).map(|left| left.map_err(|why| why.to_string()));
        if let Ok(Ok(luns)) = &left {
            let Some(files) = self.read_luns(scenario, adapter, luns)? else { return Ok(false) };
            read = files;
        }
        let luns = left.as_ref().ok().and_then(|left| left.as_ref().ok()).cloned().unwrap_or_default();
        let losses = left.map_err(|error| Cause::PoolDown { said: error.to_string() }).and_then(|left| {
            let read = read?;
            let remains = match &left {
                Ok(luns) => Remains::Luns(luns, &read),
                Err(why) => Remains::Nothing(why),
            };
            adapter.losses(scenario, load, remains)
        });
        match (losses, &mut attempt.report) {
            (Ok(losses), Some(report)) => {
                report.observed.extend(losses.observed);
                let stands = losses.looks.iter().filter_map(|block| {
                    let found = self.read_block(luns.get(block.lun)?, *block);
                    Some(adapter.what_stands(&self.place, *block, &found))
                });
                let before = report.evidence.iter().flat_map(|checks| checks.facts().iter().cloned());
                report.evidence = Some(before.chain(losses.evidence).chain(stands).collect::<Vec<_>>().into());
                if !losses.passed {
                    report.check = Check::Failed;
                }
            }
            (Err(why), _) => attempt.causes.push(Cause::RemainsUnread { why: Box::new(why) }),
            (Ok(_), None) => {}
        }
        Ok(true)
    }

    /// What stands in a block of a LUN's file; nothing if it cannot be read.
    fn read_block(&self, file: &str, block: Block) -> Vec<u8> {
        const SCRIPT: &str = r#"exec dd if="$1" bs="$2" skip="$3" count=1 2>/dev/null"#;
        let (bytes, before) = (block.bytes.to_string(), (block.offset / block.bytes).to_string());
        let command = Command::new(["sh", "-c", SCRIPT, "sh", file, &bytes, &before]);
        self.host.run(&command).map(|output| output.stdout).unwrap_or_default()
    }

    /// What a reading of the LUNs' files left, or why they cannot be read; `None` if the user interrupted it.
    fn read_luns(
        &self,
        scenario: &Scenario,
        adapter: &dyn Adapter,
        luns: &[String],
    ) -> anyhow::Result<Option<Result<Files, Cause>>> {
        let Invocation { files, words, results, .. } = match adapter.reading_again(scenario, &self.place, luns) {
            Ok(invocation) => invocation,
            Err(cause) => return Ok(Some(Err(cause))),
        };
        for (path, contents) in &files {
            self.host.write(path, contents)?;
        }
        let command = self.guarded(ALONE, scenario, &words, Some(&self.place.work));
        let mut reading = Attempt::default();
        let whole = Scenario { faults: Vec::new(), ..scenario.clone() };
        if !self.follow(&command, &whole, &mut reading, |_| Ok(()))? {
            return Ok(None);
        }
        let failed = reading.failure.or_else(|| ended_badly(reading.usage.as_ref(), &reading.error_output));
        Ok(Some(match failed {
            Some(cause) => Err(cause),
            None => Ok(self.host.read_matching(&results)?),
        }))
    }
}
