//! `/proc/cpuinfo`, which every architecture writes in its own way: blocks of `key : value`, a block a processor, and on some
//! (ARM, LoongArch, POWER) one of its own for what they have in common.

use std::collections::BTreeMap;

/// Keys in lower case and their values.
pub(super) type Block = BTreeMap<String, String>;

/// Its blocks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CpuInfo {
    /// A block for each hardware thread that is on line.
    pub(super) processors: Vec<Block>,
    /// What stands outside the processors' blocks.
    pub(super) common: Block,
}

impl CpuInfo {
    /// Reads any text; what is no `key : value` is left out.
    pub(super) fn parse(text: &str) -> Self {
        let mut this = Self::default();
        let mut block = Block::new();
        for line in text.lines() {
            let Some((key, value)) = line.split_once(':') else {
                if line.trim().is_empty() {
                    this.close(&mut block);
                }
                continue;
            };
            let mut key = key.trim().to_lowercase();
            let value = value.trim();
            if key == "processor" {
                if value.parse::<u32>().is_ok() {
                    this.close(&mut block);
                } else {
                    // Old ARM kernels have the model name under `Processor`.
                    key = "model name".into();
                }
            }
            block.entry(key).or_insert_with(|| value.to_owned());
        }
        this.close(&mut block);
        this
    }

    fn close(&mut self, block: &mut Block) {
        let block = std::mem::take(block);
        if block.contains_key("processor") {
            self.processors.push(block);
        } else {
            self.common.extend(block);
        }
    }

    /// The value of this key for one processor: its own, or else the common one.
    pub(super) fn of<'a>(&'a self, processor: &'a Block, key: &str) -> Option<&'a str> {
        processor.get(key).or_else(|| self.common.get(key)).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The value of this key for the first processor that has one, or else the common one.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let own = self.processors.iter().find_map(|block| block.get(key));
        own.or_else(|| self.common.get(key)).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The distinct values of this key over all processors, in their order.
    pub(super) fn distinct(&self, key: &str) -> Vec<&str> {
        let mut values = Vec::new();
        for value in self.processors.iter().chain([&self.common]).filter_map(|block| block.get(key)) {
            if !value.is_empty() && !values.contains(&value.as_str()) {
                values.push(value.as_str());
            }
        }
        values
    }
}

/// The text as it may be kept: without serial numbers, and of a long one only the first processor's block.
pub(super) fn to_keep(text: &str) -> String {
    const LONG: usize = 64 << 10;
    let named =
        |line: &str, name: &str| line.split(':').next().is_some_and(|key| key.trim().eq_ignore_ascii_case(name));
    let without = text.lines().filter(|line| !named(line, "serial"));
    if text.len() <= LONG {
        return without.fold(String::new(), |kept, line| kept + line + "\n");
    }
    let processors = text.lines().filter(|line| named(line, "processor")).count();
    let mut seen = 0;
    let first = without.take_while(|line| {
        seen += usize::from(named(line, "processor"));
        seen < 2
    });
    let first: String = first.flat_map(|line| [line, "\n"]).collect();
    // A single block can be rubbish of any length too.
    let end = (0..=LONG.min(first.len())).rev().find(|&end| first.is_char_boundary(end)).unwrap_or(0);
    format!("{}({processors} processors in all)\n", &first[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_with_and_without_blank_lines() {
        let info = CpuInfo::parse(
            "system type\t: x\nprocessor\t: 0\nModel Name : A\nprocessor : 1\nmodel name : B\n\nSerial : 1\n",
        );
        assert_eq!(info.processors.len(), 2);
        assert_eq!(info.distinct("model name"), ["A", "B"]);
        assert_eq!(info.get("system type"), Some("x"));
        assert_eq!(info.of(&info.processors[1], "system type"), Some("x"));
    }

    #[test]
    fn an_old_arm_kernel_names_the_model_processor() {
        let info = CpuInfo::parse(
            "Processor : ARMv7 rev 10\nprocessor : 0\nBogoMIPS : 3\n\nprocessor : 1\n\nHardware : Board\n",
        );
        assert_eq!(info.processors.len(), 2);
        assert_eq!(info.get("model name"), Some("ARMv7 rev 10"));
        assert_eq!(info.get("hardware"), Some("Board"));
    }

    #[test]
    fn what_is_kept_is_short_and_has_no_serial_number() {
        assert_eq!(to_keep("processor : 0\nSerial\t\t: 00000000abcd\n"), "processor : 0\n");
        let long: String = (0..300).map(|n| format!("processor : {n}\nflags : {}\n\n", "sse ".repeat(100))).collect();
        let kept = to_keep(&long);
        assert!(kept.len() < 1000 && kept.ends_with("(300 processors in all)\n"), "{kept}");
        assert!(to_keep(&"ж".repeat(100_000)).len() < 70_000);
    }
}
