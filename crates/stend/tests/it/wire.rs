//! The wire's schema, held against what the instruments really print.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{instruments, probe};
use serde_json::Value;

fn validator() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/wire.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

/// Runs an instrument and checks every line that it prints; gives the events' names.
fn events(command: &mut Command) -> Vec<String> {
    events_until(command, |_| false)
}

/// The same of one that is told to end, by the end of its standard input, when it has printed this.
fn events_until(command: &mut Command, is_enough: impl Fn(&[String]) -> bool) -> Vec<String> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It stays open until the instrument has ended: the guard and the sampler end when it is closed.
    let mut stdin = child.stdin.take();
    let validator = validator();
    let mut seen = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap) {
        let value: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{command:?}: {error}: {line}"));
        let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{command:?}: {line}\n{errors:?}");
        seen.push(value["event"].as_str().unwrap().to_owned());
        stdin = stdin.filter(|_| !is_enough(&seen));
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command:?}\n{seen:?}\n{}", String::from_utf8_lossy(&output.stderr));
    drop(stdin);
    seen
}

#[test]
fn every_instrument_of_the_probe() {
    for arguments in [
        "cipher --cipher kuznyechik --mode ecb --direction encrypt --size 64KiB --seconds 0.02",
        "cipher --cipher magma --mode cbc --direction decrypt --size 64KiB --alignment 3 --seconds 0.02 --threads 2",
        "copy --method memcpy --size 64KiB --seconds 0.02",
        "copy --operation load --method words --size 64KiB --seconds 0.02",
        "pipe --writer write --reader read --chunk 64KiB --seconds 0.05 --verify all",
        "pipe --writer vmsplice-fresh --reader read --chunk 64KiB --seconds 0.05",
    ] {
        let seen = events(Command::new(probe()).args(arguments.split(' ')));
        assert_eq!(seen, ["begin", "repeat", "end"], "{arguments}");
    }
}

/// However slow the machine is, which may leave out ticks: it goes on until it is told to end, and gives no more samples than there are
/// ticks.
#[test]
fn the_sampler() {
    let samples = |seen: &[String]| seen.iter().filter(|event| *event == "sample").count();
    let mut endless = Command::new(probe());
    endless.args(["sample", "--hertz", "50", "--seconds", "3600"]);
    let seen = events_until(&mut endless, |seen| samples(seen) == 10);
    assert!(samples(&seen) >= 10, "{seen:?}");
    let short = events(Command::new(probe()).args(["sample", "--hertz", "50", "--seconds", "0.3"]));
    assert!((1..=16).contains(&samples(&short)), "{short:?}");
    for seen in [seen, short] {
        assert_eq!((seen.first().unwrap().as_str(), seen.last().unwrap().as_str()), ("begin", "end"));
    }
}

#[test]
fn a_script_under_the_guard() {
    let mut command = Command::new(probe());
    command.args(["guard", "--timeout", "1h", "--", "sh"]).arg(instruments().join("steady.sh")).arg("1");
    let seen = events(&mut command);
    assert_eq!(seen, ["begin", "sample", "repeat", "end", "usage"]);
}
