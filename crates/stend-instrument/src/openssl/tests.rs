use proptest::prelude::*;
use stend_model::cause::Cause;
use stend_testing::have;
use tempfile::tempdir;

use super::*;
use crate::fixture::{read, record, run, scenario, taken_apart};

fn translated(name: &str) -> Result<Vec<Event>, Cause> {
    let (scenario, finished) = read(&OpenSsl, name);
    OpenSsl.translate(&scenario, &finished)
}

#[test]
#[ignore = "records fixtures with the OpenSSL that is here"]
fn record_fixtures() {
    record(&OpenSsl, "openssl-3.0-aes-256-gcm", &[("algorithm", "aes-256-gcm")]);
    record(&OpenSsl, "openssl-3.0-sha256-multi", &[("algorithm", "sha256"), ("multi", "2")]);
    record(&OpenSsl, "openssl-3.0-chacha20-poly1305", &[("algorithm", "chacha20-poly1305"), ("bytes", "1KiB")]);
    record(&OpenSsl, "openssl-3.0-unknown", &[("algorithm", "nonsense")]);
}

#[test]
fn one_process_gives_a_count() {
    let (begin, samples, report) = taken_apart(translated("openssl-3.0-aes-256-gcm").unwrap());
    assert!(begin.version.unwrap().starts_with("3.0.19"));
    assert!(begin.build["compiler"].contains("gcc"));
    assert!(samples.is_empty());
    assert_eq!(report.work["bytes"], report.work["operations"] * 16384.0);
    assert_eq!(report.wall_ns, 1_000_000_000);
    assert_eq!(report.check, Check::Passed, "{:?}", report.evidence);
}

#[test]
fn the_counts_of_several_processes_are_summed() {
    let (_, finished) = read(&OpenSsl, "openssl-3.0-sha256-multi");
    let (_, _, report) = taken_apart(translated("openssl-3.0-sha256-multi").unwrap());
    // What openssl itself makes of it: `+F:number:name:bytes per second` on standard output.
    let rate: f64 = finished
        .stdout
        .lines()
        .rfind(|line| line.starts_with("+F:"))
        .unwrap()
        .rsplit(':')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!((report.work["bytes"] / (report.wall_ns as f64 * 1e-9) / rate - 1.0).abs() < 0.02, "{report:?} {rate}");
    assert_eq!(report.check, Check::Passed);
}

#[test]
fn what_cannot_be_checked_says_so() {
    let (_, _, report) = taken_apart(translated("openssl-3.0-chacha20-poly1305").unwrap());
    assert_eq!(report.check, Check::None);
    // Made by hand: what a version before 3.0 prints, which has no `openssl mac`, and has other stale text on standard error.
    let (scenario, mut finished) = read(&OpenSsl, "openssl-3.0-aes-256-gcm");
    finished.stdout = "compiler: gcc -fPIC\nknown-answer:\n+H:16384\n+F:22:aes-256-gcm:3000000000.00\n".into();
    finished.stderr =
        "Invalid command 'mac'; type \"help\" for a list.\n+DT:aes-256-gcm:1:16384\n+R:183105:aes-256-gcm:1.000000\n"
            .into();
    finished.version = "OpenSSL 1.1.1w  11 Sep 2023\n".into();
    let (begin, _, report) = taken_apart(OpenSsl.translate(&scenario, &finished).unwrap());
    assert_eq!((report.check, begin.version.as_deref()), (Check::None, Some("1.1.1w")));
    assert_eq!(report.work["operations"], 183_105.0);
}

#[test]
fn a_wrong_answer_is_a_failed_check() {
    let (scenario, mut finished) = read(&OpenSsl, "openssl-3.0-sha256-multi");
    finished.stdout = finished.stdout.replace("known-answer:ba78", "known-answer:ab78");
    let (_, _, report) = taken_apart(OpenSsl.translate(&scenario, &finished).unwrap());
    assert_eq!(report.check, Check::Failed);
    let evidence = report.evidence.unwrap();
    let [Checked::AnswerWrong { vector, .. }] = evidence.facts() else { panic!("{evidence:?}") };
    assert_eq!(vector, "FIPS 180-4");
}

#[test]
fn what_was_not_measured_fails_the_repeat() {
    let unknown = translated("openssl-3.0-unknown").unwrap_err();
    let Cause::ToolExited { status: 1, said, .. } = unknown else { panic!("{unknown:?}") };
    assert!(said.contains("nonsense") && !said.contains('\n'), "{said}");
    let (scenario, finished) = read(&OpenSsl, "openssl-3.0-sha256-multi");
    let of = |stderr: String| OpenSsl.translate(&scenario, &Finished { stderr, ..finished.clone() }).unwrap_err();
    assert_eq!(of(String::new()), Cause::OpensslProcesses { count: 0, wanted: 2, said: String::new() });
    let line = of(finished.stderr.replacen("+R:", "+R:x", 1));
    assert!(matches!(&line, Cause::ToolLine { said, .. } if said.contains("+R:x")), "{line:?}");
    let short = of(finished.stderr.replace(":1.000000", ":0.500000"));
    assert!(matches!(short, Cause::OpensslCount { seconds: 0.5, wanted: 1.0, .. }), "{short:?}");
}

#[test]
fn a_late_alarm_counts_with_its_real_time() {
    let (scenario, mut finished) = read(&OpenSsl, "openssl-3.0-aes-256-gcm");
    finished.stderr = finished.stderr.replace(":1.000000", ":1.090000");
    let (_, _, report) = taken_apart(OpenSsl.translate(&scenario, &finished).unwrap());
    assert_eq!(report.wall_ns, 1_090_000_000);
}

#[test]
fn bad_parameters_are_refused_before_anything_runs() {
    for (parameters, part) in [
        (vec![], "\"algorithm\" is missing"),
        (vec![("algorithm", "sha256; id")], "a name"),
        (vec![("algorithm", "-help")], "a name"),
        (vec![("algorithm", "sha256"), ("seconds", "200ms")], "whole seconds"),
        (vec![("algorithm", "sha256"), ("multi", "0")], "1 to 1024"),
        (vec![("algorithm", "sha256"), ("bytes", "0")], "1GiB"),
        (vec![("algorithm", "sha256"), ("colour", "red")], "no parameter"),
        (vec![("algorithm", "sha256"), ("engine", "../x")], "such as gost"),
        (vec![("algorithm", "sha256"), ("provider", "a\nb")], "such as gost"),
    ] {
        let message = OpenSsl.check(&scenario("openssl", parameters.clone())).unwrap_err().to_string();
        assert!(message.contains(part), "{parameters:?}: {message}");
    }
}

#[test]
fn the_openssl_that_is_here_knows_every_answer() {
    if !have("openssl") {
        return;
    }
    let algorithms = ["ecb", "cbc", "ctr", "gcm"]
        .into_iter()
        .flat_map(|mode| [format!("aes-128-{mode}"), format!("aes-256-{mode}")]);
    for algorithm in algorithms.chain(["md5", "sha1", "sha256", "sha512"].map(String::from)) {
        let scenario = scenario("openssl", [("algorithm", algorithm.as_str())]);
        let script = Job::of(&scenario).unwrap().script();
        let only_answer: String = script.lines().filter(|line| line.contains(ANSWER)).collect();
        let output = std::process::Command::new("sh").args(["-c", &only_answer]).output().unwrap();
        let known = KnownAnswer::of(&algorithm).unwrap();
        let answer = String::from_utf8_lossy(&output.stdout).trim().replace(ANSWER, "");
        assert!(answer == known.answer || (answer.is_empty() && known.optional), "{algorithm}: {answer}");
    }
}

#[test]
fn the_openssl_that_is_here_is_understood() {
    if !have("openssl") {
        return;
    }
    let scenario = scenario("openssl", [("algorithm", "sha256"), ("multi", "2")]);
    let finished = run(&OpenSsl, &scenario, tempdir().unwrap().path());
    let (_, _, report) = taken_apart(OpenSsl.translate(&scenario, &finished).unwrap());
    assert_eq!(report.check, Check::Passed, "{:?}", report.evidence);
}

/// Without `-elapsed` OpenSSL counts for a time of the processor, which may be any part of the alarm's.
#[test]
fn without_elapsed_the_loops_user_time_is_its_cpu_time() {
    let (_, mut finished) = read(&OpenSsl, "openssl-3.0-sha256-multi");
    finished.stderr = "+R:100:sha256:0.600000\n+R:50:sha256:0.300000\n".into();
    let parameters = [("algorithm", "sha256"), ("multi", "2"), ("elapsed", "no")];
    let translated = |finished: &Finished| OpenSsl.translate(&scenario("openssl", parameters), finished);
    let (_, _, report) = taken_apart(translated(&finished).unwrap());
    assert_eq!((report.wall_ns, report.cpu_ns), (1_000_000_000, Some(900_000_000)));
    assert_eq!(report.work["operations"], 150.0);
    // What is more than the processes used is time on the wall.
    finished.stderr = "+R:100:sha256:9.010000\n+R:50:sha256:9.010000\n".into();
    let (_, _, report) = taken_apart(translated(&finished).unwrap());
    assert_eq!(report.cpu_ns, Some(finished.usage.cpu_ns()));
    finished.stderr = "+R:0:sha256:0.000000\n+R:0:sha256:0.000000\n".into();
    assert!(matches!(translated(&finished), Err(Cause::OpensslCount { .. })));
}

#[test]
fn what_engines_and_providers_bring_is_found_checked_and_measured() {
    let engine = std::process::Command::new("openssl").args(["engine", "gost"]).output();
    if !engine.is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped: OpenSSL has no engine gost");
        return;
    }
    let asked = |parameters: &[(&str, &str)]| {
        let scenario = scenario("openssl", parameters.iter().copied());
        let words = OpenSsl.abilities(&scenario, "openssl", "/nowhere").unwrap();
        let output = std::process::Command::new(&words[0]).args(&words[1..]).output().unwrap();
        OpenSsl.lacks(&scenario, &String::from_utf8_lossy(&output.stdout))
    };
    for (algorithm, what, name) in [
        ("rc4", "provider", "legacy"),
        ("kuznyechik-ecb", "engine", "gost"),
        ("kuznyechik-ctr", "provider", "gostprov"),
        ("magma-ctr", "engine", "gost"),
    ] {
        let parameters = [("algorithm", algorithm), (what, name), ("elapsed", "no"), ("multi", "2")];
        assert_eq!(asked(&parameters), None, "{algorithm}");
        let finished = run(&OpenSsl, &scenario("openssl", parameters), tempdir().unwrap().path());
        let (begin, _, report) = taken_apart(OpenSsl.translate(&scenario("openssl", parameters), &finished).unwrap());
        assert_eq!((report.check, begin.parameters[what].as_str()), (Check::Passed, Some(name)), "{algorithm}");
        let missing = asked(&[("algorithm", algorithm), (what, "nope")]);
        assert!(
            matches!(&missing, Some(Cause::AlgorithmMissing { said, .. }) if !said.is_empty()),
            "{algorithm}: {missing:?}"
        );
    }
    assert_eq!(OpenSsl.abilities(&scenario("openssl", [("algorithm", "sha256")]), "openssl", "/"), None);
}

proptest! {
    #[test]
    fn no_text_makes_the_parsers_panic(stdout in ".{0,200}", stderr in "(\\+R:)?[0-9a-z:.+e-]{0,60}") {
        let (scenario, finished) = read(&OpenSsl, "openssl-3.0-aes-256-gcm");
        let _ = OpenSsl.translate(&scenario, &Finished { stdout, stderr, ..finished });
    }
}
