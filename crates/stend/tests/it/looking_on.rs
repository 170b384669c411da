//! What viewers see of a repeat before it is stored.

use serde_json::{Value, json};

use crate::common::{Stand, wait_until};
use crate::serve::{Server, gate, short};

fn shown(server: &Server, run: &str, has: &str) -> Value {
    let answer = server.get(&format!("/runs/{run}/samples?has={has}"));
    if answer.status == 200 { answer.json() } else { json!({ "of": "", "drawings": [] }) }
}

#[test]
fn series_are_drawn_while_the_first_repeat_is_made_and_with_another_server() {
    let stand = Stand::new();
    let gate = gate(&stand, 0);
    let server = Server::new(&stand);
    let made = server.order(&short(), &[]).json();
    let run = made["run"].as_str().unwrap().to_owned();
    gate.wait_until_reached();
    // Of a repeat that has not ended there is a sample each second.
    let samples = |server: &Server| -> Option<u64> {
        let shown = shown(server, &run, "");
        let (repeat, samples) = shown["of"].as_str()?.split_once('-')?;
        assert_eq!(repeat, "0", "{shown}");
        let drawn = shown["drawings"].as_array().unwrap();
        let is_drawing = |drawing: &Value| {
            let has = |name: &str, part: &str| drawing[name].as_str().is_some_and(|text| text.contains(part));
            has("svg", "<svg") && has("title", ": ")
        };
        (!drawn.is_empty() && drawn.iter().all(is_drawing)).then(|| samples.parse().unwrap())
    };
    wait_until("something is drawn", || samples(&server).is_some());
    let first = samples(&server).unwrap();
    wait_until("more is drawn", || samples(&server) > Some(first));
    assert_eq!(stand.json(&["show", &run])["run"]["repeats"], json!([]));
    // What a viewer has is not sent again.
    let has = shown(&server, &run, "")["of"].as_str().unwrap().to_owned();
    let again = shown(&server, &run, &has);
    assert!(again["of"] != has.as_str() || again["drawings"] == json!([]), "{again}");
    // The next server finds it too.
    server.kill(rustix::process::Signal::KILL);
    let server = Server::new(&stand);
    wait_until("the next one draws it", || samples(&server).is_some());
    gate.open();
    server.until(&made["id"], "finished");
    let stored = stand.json(&["show", &run])["run"]["repeats"].as_array().unwrap().len() as u64;
    let newest = |of: &Value| of.as_str()?.split_once('-')?.0.parse::<u64>().ok();
    wait_until("the last one is drawn", || newest(&shown(&server, &run, "")["of"]) == Some(stored - 1));
}
