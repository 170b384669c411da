//! `stend export --public`: what may name a machine or its owner is left out, and the run is still the same run.

use std::io::Read as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::Stand;
use crate::common::forge::Forged;
use crate::common::runs::{A, B, Runs, verdicts};

fn unpacked(path: &Path) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// Two disks and a pool of them, as a run has its target.
fn target() -> Value {
    json!({
        "storage": { "kind": "pool", "disks": { "devices": ["/dev/sdb", "/dev/disk/by-id/ata-canary-serial1"] }, "layout": "mirror", "manager": "btrfs" },
        "luns": 1, "fill": true, "transport": "local", "controllers": 0, "destructive": ["canary-serial1", "canary-serial2"],
        "medium": "devices", "name": "canary-target",
    })
}

/// Puts a word that nobody else has wherever a run may name something.
fn with_canaries(mut run: Forged) -> Forged {
    let of = &mut run.run;
    of["host"] = json!("canary-user@canary-host.example.net");
    of["machine"]["name"] = json!("canary-name");
    of["machine"]["network_name"] = json!("canary-net.example.net");
    of["machine"]["missing"]["board"] =
        json!({ "cause": "unread", "file": "/srv/canary-files/board", "said": "canary-net says nothing" });
    of["machine"]["raw"]["/etc/canary"] = json!("canary raw");
    let software = &mut of["machine"]["software"];
    software["command_line"] = json!("quiet mitigations=off canary.unit=canary isolcpus=1 net.ifnames=canary");
    software["kernel_build"] = json!("Linux version 6.1 (canary@canary-builder) (gcc (Debian 12) 12.2) #1 SMP");
    software["tools"]["fio"] = json!({ "version": "fio-3.36", "path": "/home/canary-user/canary-tools/fio" });
    of["known"] = json!({
        "name": "canary-name", "destination": "canary-host", "place": "canary street", "labels": { "owner": "canary" },
        "cc": "/opt/canary/bin/cc", "price": { "amount": 5, "currency": "USD", "of": "board", "source": "canary's invoice" },
    });
    of["build"] =
        json!({ "program": "/opt/canary/cc", "compiler": "cc 12", "flags": "-O2 -I/home/canary-user/include" });
    of["target"] = target();
    of["skipped"] =
        json!([{ "scenario": "gone", "reason": { "cause": "tool_missing", "tool": "/home/canary-user/x" } }]);
    of["suite"]["set"]["directory"] = json!("/mnt/canary");
    let scenario = &mut of["suite"]["scenarios"][0];
    let script = "/home/canary user/suites/wc.sh";
    scenario["instrument"] = json!({ "command": ["sh", script, "--all"] });
    scenario["places"][script] = json!("{suite_directory}/wc.sh");
    for session in &mut run.sessions {
        session["boot_id"] = json!(format!("{}-canary", session["number"]));
        session["conditions"] = json!([{ "condition": "results_unwritable", "path": "/home/canary-user/work" }]);
        session["noted"] = json!([{ "condition": "lab_at_work", "said": "canary-net is busy" }]);
        session["missing_sensors"] = json!({ "power": "canary-host's is root's", "energy": { "cause": "unread", "file": "/home/canary-user/energy", "said": "canary" } });
    }
    for repeat in &mut run.repeats {
        repeat["command"] =
            json!(["/tmp/canary-work/guard", "sh", script, "cat /home/canary-user/data --to=/srv/canary/found"]);
        repeat["output"] = json!("canary said this");
        repeat["error_output"] = json!("canary complained");
        repeat["begin"]["canary"] = json!("canary");
        repeat["begin"]["parameters"]["file"] = json!("/srv/canary-files/data");
        repeat["report"]["canary"] = json!("canary");
    }
    let last = run.repeats.last_mut().unwrap();
    last["outcome"] = json!({ "failed": { "cause": "exited", "status": 1, "said": "canary did not want to" } });
    last.as_object_mut().unwrap().remove("report");
    // What a reader cannot read, it quotes.
    let error = "invalid type: string \"canary\", expected u64";
    for (repeat, cause) in run.repeats.iter_mut().zip([
        json!({ "cause": "fio_report_other", "error": error }),
        json!({ "cause": "fio_report_cut", "error": error, "said": "canary" }),
    ]) {
        repeat["outcome"] = json!({ "failed": cause });
        repeat.as_object_mut().unwrap().remove("report");
    }
    for (place, metric) in
        ["net.canary0.sent_bytes_total", "net.canary1.sent_bytes_total", "net.lo.sent_bytes_total"].iter().enumerate()
    {
        let one = json!({ "metric": metric, "origin": "machine", "times_ns": [1, 2], "values": [place, 7] });
        run.series.push((0, one));
    }
    run
}

#[test]
fn nothing_that_was_planted_in_a_run_is_in_its_public_export() {
    let runs = Runs::new();
    let two_boots = runs.run(A, &[("one", 10.0), ("two", 20.0)]).in_sessions(2);
    runs.add(&[with_canaries(two_boots)]);
    let stand = &runs.stand;
    let ordinary = stand.path().join("ordinary.gz");
    stand.fine(&["export", A, "-o", ordinary.to_str().unwrap()]);
    let planted = unpacked(&ordinary);
    assert!(planted.matches("canary").count() > 30, "they are in the run");
    assert!(["fio_report_other", "fio_report_cut"].iter().all(|cause| planted.contains(cause)));

    let said = stand.fine(&["export", A, "--public"]).err;
    let public = stand.path().join(format!("{A}.public.stend.gz"));
    let text = unpacked(&public);
    let found = text.lines().find(|line| line.contains("canary"));
    assert!(found.is_none(), "{}", found.unwrap());
    for what in [
        "machine's name",
        "how the machine was reached",
        "kernel's command line (2)",
        "who built the kernel",
        "boot ids (2)",
        "network interfaces (2)",
        "paths",
        "serial numbers of devices (2)",
        "the target's name",
        "what instruments printed",
        "stend hosts",
        "fingerprint was read from",
    ] {
        assert!(said.contains(what), "{what}: {said}");
    }
    // What is nobody's is there.
    for kept in [
        "mitigations=off",
        "isolcpus=1",
        "net.lo.",
        "net.interface2.",
        "/dev/sdb",
        "gcc (Debian 12) 12.2",
        "\"cause\":\"exited\",\"status\":1",
        "{suite_directory}/wc.sh",
    ] {
        assert!(text.contains(kept), "{kept}");
    }

    // It is read as any other, and says what it is.
    let other = Stand::new();
    other.fine(&["import", public.to_str().unwrap()]);
    assert!(other.fine(&["show", "--repeats"]).out.contains("public:"));
    for arguments in [&["list"][..], &["compare", "last"], &["history", "one"], &["report", "last"]] {
        let ended = other.run(arguments);
        assert!(!ended.out.contains("canary") && !ended.err.contains("canary"), "{arguments:?}");
    }
    let notes = other.json(&["compare", "last"])["table"]["notes"].clone();
    assert!(notes.as_array().unwrap().iter().any(|note| note["kind"] == "public"), "{notes}");
    // Exported anew it is the same, byte by byte, whether it is asked for once more or not.
    for arguments in [&["export", "last", "-o", "again.gz"][..], &["export", "last", "--public", "-o", "again.gz"]] {
        other.fine(arguments);
        assert_eq!(std::fs::read(other.path().join("again.gz")).unwrap(), std::fs::read(&public).unwrap());
    }
    assert!(other.fine(&["import", public.to_str().unwrap()]).err.contains("is here already"));
}

#[test]
fn a_public_run_is_compared_as_the_run_that_it_was_made_of() {
    let runs = Runs::new();
    let plain = |id: &str, middle: f64| runs.run(id, &[("one", middle)]);
    let mut old = with_canaries(plain(A, 10.0));
    let mut new = with_canaries(plain(B, 5.0));
    for (run, line) in [(&mut old, "quiet canary=1 mitigations=off"), (&mut new, "quiet canary=1 mitigations=auto")] {
        run.run["machine"]["software"]["command_line"] = json!(line);
        run.run.as_object_mut().unwrap().remove("target");
    }
    runs.add(&[old, new]);
    let stand = &runs.stand;
    let table = |stand: &Stand| {
        let table = stand.json(&["compare", A, B])["table"].clone();
        let hardware = stand.json(&["list"])["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["hardware_id"].clone())
            .collect::<Vec<_>>();
        assert!(hardware[0] == hardware[1], "{hardware:?}");
        let notes: Vec<_> = table["notes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|note| note["kind"].clone())
            .filter(|kind| kind != "public")
            .collect();
        (verdicts(&table), table["columns"][1]["differences"].clone(), notes, hardware)
    };
    let before = table(stand);
    assert_eq!(before.0, ["better"]);
    assert_eq!(before.1, json!([{ "what": "command_line", "before": "mitigations=off", "after": "mitigations=auto" }]));
    for name in [A, B] {
        stand.fine(&["export", name, "--public"]);
        stand.fine(&["export", name]);
    }
    let file =
        |name: &str, kind: &str| stand.path().join(format!("{name}{kind}.stend.gz")).to_str().unwrap().to_owned();
    for (of_old, of_new) in [(".public", ".public"), ("", ".public"), (".public", "")] {
        let other = Stand::new();
        other.fine(&["import", &file(A, of_old), &file(B, of_new)]);
        assert_eq!(table(&other), before, "{of_old} and {of_new}");
    }
}
