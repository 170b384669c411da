//! The wire's schema, held against what the instruments really print.

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
    // Its standard input stays open until it has ended: the guard and the sampler end when it is closed.
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{command:?}\n{out}\n{}", String::from_utf8_lossy(&output.stderr));
    let validator = validator();
    let check = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{command:?}: {error}: {line}"));
        let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{command:?}: {line}\n{errors:?}");
        value["event"].as_str().unwrap().to_owned()
    };
    out.lines().map(check).collect()
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

#[test]
fn the_sampler() {
    // Ticks that a busy machine did not let it keep are left out, so that there may be fewer than 16, and never more.
    let samples = || {
        let seen = events(Command::new(probe()).args(["sample", "--hertz", "50", "--seconds", "0.3"]));
        assert_eq!((seen.first().unwrap().as_str(), seen.last().unwrap().as_str()), ("begin", "end"));
        let samples = seen.iter().filter(|event| *event == "sample").count();
        assert!((1..=16).contains(&samples), "{samples} samples in 0.3 s at 50 Hz");
        samples
    };
    assert!((0..50).any(|_| samples() >= 10), "too few samples in 0.3 s at 50 Hz");
}

#[test]
fn a_script_under_the_guard() {
    let mut command = Command::new(probe());
    command.args(["guard", "--timeout", "1h", "--", "sh"]).arg(instruments().join("steady.sh")).arg("1");
    let seen = events(&mut command);
    assert_eq!(seen, ["begin", "sample", "repeat", "end", "usage"]);
}
