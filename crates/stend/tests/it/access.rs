//! Users, roles, tokens, TLS, the schedule and the journal of `stend serve`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::common::{Ended, Stand, ended, executable, wait_until};
use crate::serve::{Answer, Server, gate, short};

const FORM: &str = "content-type: application/x-www-form-urlencoded";
const JSON: &str = "content-type: application/json";

/// Adds a user, and gives the password.
fn user(stand: &Stand, name: &str, role: &str) -> String {
    stand.fine(&["users", "add", name, "--role", role]).out.trim().to_owned()
}

/// A server of the same lab, as one of its users has it.
fn sign_in(server: &mut Server, name: &str, password: &str) -> Answer {
    server.cookie.clear();
    let answer = server.ask("POST", "/sign-in", &[FORM], &format!("name={name}&password={password}"));
    if let Some(cookie) = answer.header("set-cookie") {
        server.cookie = cookie.split(';').next().unwrap().to_owned();
    }
    answer
}

fn entries(server: &Server) -> Vec<(String, String, String)> {
    let entries = server.get("/api/v1/journal?limit=1000").json()["entries"].as_array().unwrap().clone();
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    entries.iter().rev().map(|entry| (text(entry, "kind"), text(entry, "who"), text(entry, "about"))).collect()
}

/// A file of the project.
fn source(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

/// The paths of the server's router, as its source has them.
fn paths_of_router() -> BTreeSet<String> {
    let router = source("crates/stend-server/src/lib.rs");
    let path = |rest: &str| {
        let first = rest.split(',').next().unwrap().trim();
        let constant = || router.split(&format!("const {first}: &str = ")).nth(1).unwrap().split(';').next().unwrap();
        if first.starts_with('"') { first } else { constant() }.trim_matches('"').to_owned()
    };
    router.split(".route(").skip(1).map(path).collect()
}

/// The least role of each request, by path and method, as the document has them.
fn least_roles() -> BTreeMap<(String, String), String> {
    let document = source("docs/reference/security.md");
    let table = document.split_once("| path | GET |").unwrap().1.split("\n\n").next().unwrap();
    let row = |line: &str| {
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().to_owned()).collect();
        let methods = ["GET", "POST", "PATCH", "DELETE"].into_iter().zip(cells[2..].to_vec());
        let path = cells[1].trim_matches('`').to_owned();
        methods
            .filter(|(_, least)| !least.is_empty())
            .map(move |(method, least)| ((path.clone(), method.into()), least))
    };
    table.lines().skip(2).flat_map(row).collect()
}

/// Who has no account, and something else to show.
const OF_MACHINES: [&str; 2] = ["agent", "invited"];

/// The table says who may send what: all that the router takes, what the API's description says of it, and what the server does.
#[test]
fn each_request_is_done_for_its_role_and_refused_to_those_below() {
    let stand = Stand::new();
    let roles = ["nobody", "viewer", "operator", "admin"];
    stand.refused(&["users", "add", "viewer"], &["the first user is an admin"]);
    let mut server = Server::strange(&stand);
    // By session and by token; nobody has either.
    let mut shown = vec![(0, false, String::new())];
    for (place, role) in roles.iter().enumerate().skip(1).rev() {
        let password = user(&stand, role, role);
        assert_eq!(sign_in(&mut server, role, &password).status, 303);
        let token = server.ask("POST", "/api/v1/tokens", &[], "").json()["token"].as_str().unwrap().to_owned();
        shown.push((place, false, format!("cookie: {}", std::mem::take(&mut server.cookie))));
        shown.push((place, true, format!("authorization: Bearer {token}")));
    }
    let admin = shown[1].2.clone();
    let least = least_roles();
    // What the router takes is in the table, and nothing else.
    let taken = paths_of_router().into_iter().flat_map(|path| {
        let methods = server.ask("OPTIONS", &sent(&path), &[&admin], "").header("allow").unwrap().to_owned();
        let methods: Vec<_> = methods.split(',').map(str::to_owned).filter(|method| method != "HEAD").collect();
        methods.into_iter().map(move |method| (path.clone(), method))
    });
    assert_eq!(taken.collect::<BTreeSet<_>>(), least.keys().cloned().collect());
    // So is what the API's description has, but itself.
    let described = server.get("/api/v1/openapi.json").json();
    let of_people = |((path, _), least): &(&(String, String), &String)| {
        path.starts_with("/api/") && !OF_MACHINES.contains(&least.as_str())
    };
    let mut undescribed: BTreeSet<_> = least.iter().filter(of_people).map(|(key, _)| key).collect();
    for (path, methods) in described["paths"].as_object().unwrap() {
        let of_table = path.strip_prefix("/api/v1/commands/").map_or(path.as_str(), |_| "/api/v1/commands/{command}");
        for (method, operation) in methods.as_object().unwrap() {
            let key = (of_table.to_owned(), method.to_uppercase());
            let (role, how) = least[&key].split_once(", ").unwrap_or((&least[&key], ""));
            let says = if how.is_empty() { format!("For {role}s") } else { format!("For {role}s, {how}") };
            assert_eq!(operation["description"], says, "{key:?}");
            undescribed.remove(&key);
        }
    }
    assert!(undescribed.iter().all(|(_, method)| method == "GET") && undescribed.len() == 4, "{undescribed:?}");
    // Whoever signs out is out.
    let (last, others): (Vec<_>, Vec<_>) = least.iter().partition(|((path, _), _)| path == "/sign-out");
    for ((path, method), least) in others.into_iter().chain(last) {
        let (role, how) = least.split_once(", ").unwrap_or((least, ""));
        if OF_MACHINES.contains(&role) {
            for (_, _, shows) in &shown {
                let headers: &[&str] = if shows.is_empty() { &[JSON] } else { &[JSON, shows] };
                assert_eq!(begun(server.send(method, &sent(path), headers, "")).0, 401, "{method} {path}");
            }
            continue;
        }
        let role = roles.iter().position(|name| *name == role).unwrap();
        for (is, by_token, shows) in &shown {
            let headers: &[&str] = if shows.is_empty() { &[JSON] } else { &[JSON, shows] };
            let (status, to) = begun(server.send(method, &sent(path), headers, ""));
            let is_led_to_sign_in = method == "GET" && (status, to.as_deref()) == (303, Some("/sign-in"));
            let refused = if *is == 0 && role > 0 {
                let is_page = method == "GET" && !path.starts_with("/api/") && path != "/metrics";
                if is_page { is_led_to_sign_in } else { status == 401 }
            } else {
                status == 403
            };
            let said = format!("{method} {path} as {}, by token: {by_token}: {status}", roles[*is]);
            let may = *is >= role && !(*by_token && how == "in person");
            assert_eq!(refused, !may, "{said}");
            assert!(!may || status != 401 && !is_led_to_sign_in, "{said}");
        }
    }
    // The pages of a viewer have no buttons that would be refused.
    let viewer = &shown[5].2;
    let (status, _) = begun(server.send("GET", "/api/v1/me", &[viewer], ""));
    assert_eq!(status, 401, "it has signed out");
    let page = server.ask("GET", "/", &[&shown[6].2], "").body;
    assert!(page.contains("id=\"queue\"") && !page.contains("id=\"start\""));
}

/// A path with names and numbers of nothing in place of what it takes.
fn sent(path: &str) -> String {
    let part = |part: &str| match part {
        "{job}" | "{line}" | "{token}" | "{entry}" => "700".to_owned(),
        part if part.starts_with('{') => "none".to_owned(),
        part => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// The status of an answer, and where it leads. The rest may be without end.
fn begun(answer: BufReader<TcpStream>) -> (u16, Option<String>) {
    let head: Vec<String> = answer.lines().map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
    let status = head[0].split(' ').nth(1).unwrap().parse().unwrap();
    let to = head.iter().filter_map(|line| line.strip_prefix("location: ")).next();
    (status, to.map(str::to_owned))
}

#[test]
fn a_password_opens_what_its_user_may_until_it_or_the_user_is_changed() {
    let stand = Stand::new();
    let (admin, anna) = (user(&stand, "admin", "admin"), user(&stand, "anna", "operator"));
    let mut server = Server::strange(&stand);
    assert!(server.token.is_empty(), "where there are users nobody needs a token");
    for (name, password) in [("anna", "wrong"), ("anna", &*admin), ("nobody", &anna), ("", "")] {
        let answer = sign_in(&mut server, name, password);
        assert!(answer.status == 403 && server.cookie.is_empty(), "{name}: {}", answer.status);
    }
    assert_eq!(sign_in(&mut server, "anna", &anna).status, 303);
    assert_eq!(server.get("/api/v1/me").json(), json!({ "name": "anna", "role": "operator" }));
    // A token may do less than its user, and never more.
    let token = |server: &Server, asked: Value| server.ask("POST", "/api/v1/tokens", &[JSON], &asked.to_string());
    assert_eq!(token(&server, json!({ "role": "admin" })).status, 422);
    assert_eq!(token(&server, json!({ "days": 0 })).status, 422);
    assert_eq!(token(&server, json!({ "days": 10_000 })).status, 422);
    let wrong_before = token(&server, json!({ "name": "x".repeat(65) }));
    assert_eq!(wrong_before.status, 422);
    let bearer = |answer: &Answer| format!("authorization: Bearer {}", answer.json()["token"].as_str().unwrap());
    let weak = bearer(&token(&server, json!({ "name": "ci", "role": "viewer", "days": 3 })));
    let own = bearer(&token(&server, json!({})));
    let elsewhere = server.cookie.clone();
    server.cookie.clear();
    let start = |server: &Server, bearer: &str| {
        server.ask("POST", "/api/v1/jobs", &[JSON, bearer], &json!({ "suite": "none" }).to_string()).status
    };
    assert_eq!((start(&server, &weak), start(&server, &own)), (403, 422));
    // It makes nothing that outlives it.
    for (method, path) in [("POST", "/api/v1/tokens"), ("DELETE", "/api/v1/tokens/1"), ("POST", "/api/v1/me/password")]
    {
        assert_eq!(server.ask(method, path, &[JSON, &own], "{}").status, 403, "{path}");
    }
    // Whose password is changed is out elsewhere.
    assert_eq!(sign_in(&mut server, "anna", &anna).status, 303);
    let change = |server: &Server, old: &str, new: &str| {
        server.ask("POST", "/api/v1/me/password", &[JSON], &json!({ "old": old, "new": new }).to_string()).status
    };
    assert_eq!(change(&server, "wrong", "correct horse battery"), 422);
    assert_eq!(change(&server, &anna, "short"), 422);
    assert_eq!(change(&server, &anna, "correct horse battery"), 204);
    server.cookie = elsewhere;
    assert_eq!(server.get("/api/v1/me").status, 401);
    assert_eq!(sign_in(&mut server, "anna", &anna).status, 403);
    assert_eq!(sign_in(&mut server, "anna", "correct+horse+battery").status, 303);
    // An admin sees what others have, and takes it away.
    assert_eq!(sign_in(&mut server, "admin", &admin).status, 303);
    let tokens = server.get("/api/v1/tokens").json()["tokens"].clone();
    assert_eq!(tokens.as_array().unwrap().len(), 2);
    assert_eq!(
        (&tokens[0]["user"], &tokens[0]["name"], &tokens[0]["role"]),
        (&json!("anna"), &json!("ci"), &json!("viewer"))
    );
    assert_eq!(server.ask("DELETE", &format!("/api/v1/tokens/{}", tokens[0]["id"]), &[], "").status, 204);
    let role = |role: &str| json!({ "role": role }).to_string();
    assert_eq!(server.ask("PATCH", "/api/v1/users/anna", &[JSON], &role("viewer")).status, 204);
    assert_eq!(server.ask("PATCH", "/api/v1/users/admin", &[JSON], &role("viewer")).status, 422, "the last admin");
    assert_eq!(server.ask("DELETE", "/api/v1/users/admin", &[], "").status, 422, "the last admin");
    let admins = server.cookie.clone();
    server.cookie.clear();
    assert_eq!(server.ask("GET", "/api/v1/me", &[&weak], "").status, 401, "it was ended");
    assert_eq!(start(&server, &own), 403, "its user may no more");
    server.cookie = admins;
    assert_eq!(server.ask("DELETE", "/api/v1/users/anna", &[], "").status, 204);
    assert_eq!(server.ask("DELETE", "/api/v1/users/anna", &[], "").status, 404);
    server.cookie.clear();
    assert_eq!(server.ask("GET", "/api/v1/me", &[&own], "").status, 401, "its user is gone");
    // Who did what stands in the journal, and nothing that opens anything.
    assert_eq!(sign_in(&mut server, "admin", &admin).status, 303);
    let found = entries(&server);
    let has = |kind: &str, who: &str, about: &str| found.contains(&(kind.into(), who.into(), about.into()));
    assert!(has("user-added", "", "anna") && has("sign-in-refused", "", "nobody") && has("token-made", "anna", "ci"));
    assert!(has("password-changed", "anna", "anna") && has("role-changed", "admin", "anna"), "{found:#?}");
    assert!(has("token-ended", "admin", "ci") && has("user-removed", "admin", "anna"), "{found:#?}");
    let kept = std::fs::read(stand.store().join("server.db")).unwrap();
    for secret in [&*admin, "correct horse battery", weak.split(' ').next_back().unwrap()] {
        assert!(!kept.windows(secret.len()).any(|part| part == secret.as_bytes()));
        assert!(!format!("{found:?}").contains(secret));
    }
}

#[test]
fn users_are_added_and_removed_by_a_command_while_the_server_serves() {
    let stand = Stand::new();
    let admin = user(&stand, "admin", "admin");
    let mut server = Server::strange(&stand);
    let boris = user(&stand, "boris", "viewer");
    assert_eq!(sign_in(&mut server, "boris", &boris).status, 303);
    let again = stand.fine(&["users", "reset", "boris"]).out.trim().to_owned();
    assert_eq!(server.get("/api/v1/me").status, 401);
    assert_eq!(sign_in(&mut server, "boris", &again).status, 303);
    assert_eq!(stand.fine(&["users"]).out, "admin  admin\nboris  viewer\n");
    stand.fine(&["users", "remove", "boris"]);
    assert_eq!(server.get("/api/v1/me").status, 401);
    assert_eq!(sign_in(&mut server, "admin", &admin).status, 303);
    for (arguments, part) in [
        (&["users", "add", "admin"][..], "already"),
        (&["users", "add", "a b"], "name"),
        (&["users", "add", "x", "--role", "king"], "king"),
        (&["users", "remove", "admin"], "last admin"),
        (&["users", "remove", "boris"], "no user"),
        (&["users", "reset", "boris"], "no user"),
    ] {
        let ended = stand.run(arguments);
        assert!(ended.status == Some(2) && ended.err.contains(part), "{arguments:?}: {}", ended.err);
    }
}

/// The number of the newest entry of a kind.
fn newest(server: &Server, kind: &str) -> Value {
    let entries = server.get("/api/v1/journal").json()["entries"].as_array().unwrap().clone();
    entries.iter().find(|entry| entry["kind"] == kind).unwrap_or_else(|| panic!("{kind}: {entries:#?}"))["id"].clone()
}

#[test]
fn a_change_of_users_or_schedule_is_put_back_unless_another_came_after_it() {
    let stand = Stand::new();
    puts_back(&stand, &mut Server::strange(&stand));
}

/// The same for a server and for a node.
pub(crate) fn puts_back(stand: &Stand, server: &mut Server) {
    let [admin, anna, boris] =
        [("admin", "admin"), ("anna", "operator"), ("boris", "viewer")].map(|(name, role)| user(stand, name, role));
    let put_back = |server: &Server, entry: &Value| {
        let answer = server.ask("POST", &format!("/api/v1/journal/{entry}/put-back"), &[], "");
        let said =
            if answer.status == 204 { String::new() } else { answer.json()["detail"].as_str().unwrap().to_owned() };
        (answer.status, said)
    };
    let fine = (204, String::new());
    let cookie = |server: &mut Server, name: &str, password: &str| {
        assert_eq!(sign_in(server, name, password).status, 303, "{name}");
        server.cookie.clone()
    };
    let of_boris = cookie(server, "boris", &boris);
    let token = server.ask("POST", "/api/v1/tokens", &[], "").json()["token"].as_str().unwrap().to_owned();
    let of_anna = cookie(server, "anna", &anna);
    let of_admin = cookie(server, "admin", &admin);
    let users = |server: &Server| server.get("/api/v1/users").json()["users"].clone();
    let role = |server: &Server, name: &str| {
        users(server).as_array().unwrap().iter().find(|user| user["name"] == name).map(|user| user["role"].clone())
    };
    // A role, and that it was put back.
    let change = |server: &Server, name: &str, role: &str| {
        server.ask("PATCH", &format!("/api/v1/users/{name}"), &[JSON], &json!({ "role": role }).to_string()).status
    };
    assert_eq!(change(server, "boris", "operator"), 204);
    let changed = newest(server, "role-changed");
    server.cookie.clone_from(&of_anna);
    assert_eq!(put_back(server, &changed).0, 403, "an operator does nothing to users");
    server.cookie.clone_from(&of_admin);
    assert_eq!(put_back(server, &changed), fine);
    assert_eq!(role(server, "boris"), Some(json!("viewer")));
    let again = put_back(server, &changed);
    assert_eq!(
        again,
        (422, format!("entry {} has changed the same after entry {changed}", newest(server, "user-put-back")))
    );
    assert_eq!(put_back(server, &newest(server, "user-put-back")), fine);
    assert_eq!(role(server, "boris"), Some(json!("operator")));
    server.cookie.clone_from(&of_boris);
    assert_eq!(server.get("/api/v1/me").status, 200, "the session goes on");
    // Who was removed comes back with the password, and what was ended stays so.
    server.cookie.clone_from(&of_admin);
    assert_eq!(server.ask("DELETE", "/api/v1/users/boris", &[], "").status, 204);
    let removed = newest(server, "user-removed");
    assert_eq!(put_back(server, &removed), fine);
    assert_eq!(role(server, "boris"), Some(json!("operator")));
    server.cookie.clone_from(&of_boris);
    assert_eq!(server.get("/api/v1/me").status, 401);
    server.cookie.clear();
    assert_eq!(server.ask("GET", "/api/v1/me", &[&format!("authorization: Bearer {token}")], "").status, 401);
    cookie(server, "boris", &boris);
    // A new password came after it.
    server.cookie.clone_from(&of_admin);
    let back = newest(server, "user-put-back");
    assert_eq!(server.ask("POST", "/api/v1/users/boris/password", &[], "").status, 200);
    let later = newest(server, "password-changed");
    assert_eq!(put_back(server, &back), (422, format!("entry {later} has changed the same after entry {back}")));
    assert_eq!(put_back(server, &later).0, 404, "passwords are not put back");
    // Somebody who was added goes, with what they had signed in with; the last admin stays.
    assert_eq!(put_back(server, &newest(server, "user-added")).0, 422, "boris was changed since");
    let carla = user(stand, "carla", "admin");
    let of_carla = cookie(server, "carla", &carla);
    assert_eq!(change(server, "admin", "viewer"), 204);
    let last = put_back(server, &newest(server, "user-added"));
    assert!(last.0 == 422 && last.1.contains("last admin"), "{last:?}");
    assert_eq!(put_back(server, &newest(server, "role-changed")), fine);
    server.cookie.clone_from(&of_admin);
    assert_eq!(put_back(server, &newest(server, "user-added")), fine);
    server.cookie.clone_from(&of_carla);
    assert_eq!(server.get("/api/v1/me").status, 401);
    // A line of the schedule, by an operator and by the page.
    server.cookie.clone_from(&of_anna);
    let line = json!({ "cron": "0 0 1 1 *", "order": short() }).to_string();
    let line = server.ask("POST", "/api/v1/schedule", &[JSON], &line).json();
    let lines = |server: &Server| server.get("/api/v1/schedule").json()["lines"].clone();
    assert_eq!(server.ask("DELETE", &format!("/api/v1/schedule/{}", line["id"]), &[], "").status, 204);
    let (added, removed) = (newest(server, "schedule-added"), newest(server, "schedule-removed"));
    let button = |entry: &Value| format!("action=\"/journal/{entry}/put-back\"");
    let page = server.get("/journal").body;
    assert!(page.contains(&button(&removed)) && !page.contains(&button(&added)), "{page}");
    assert!(!page.contains(&button(&newest(server, "user-put-back"))), "that is for admins");
    let refused = server.ask("POST", &format!("/journal/{added}/put-back"), &[FORM], "");
    assert!(
        refused.status == 422 && refused.body.contains(&format!("entry {removed} has changed")),
        "{}",
        refused.body
    );
    let done = server.ask("POST", &format!("/journal/{removed}/put-back"), &[FORM], "");
    assert_eq!((done.status, done.header("location")), (303, Some("/journal")));
    assert_eq!(lines(server), json!([line]));
    assert_eq!(put_back(server, &newest(server, "schedule-put-back")), fine);
    assert_eq!(lines(server), json!([]));
    assert_eq!(put_back(server, &newest(server, "schedule-put-back")), fine);
    assert_eq!(lines(server), json!([line]));
    // Hashes are in what is kept, and in nothing that is told.
    server.cookie.clone_from(&of_admin);
    assert_eq!(put_back(server, &json!(1_000_000)).0, 404);
    for path in ["/api/v1/journal?limit=1000", "/journal", "/api/v1/users", "/access", "/api/v1/openapi.json"] {
        assert!(!server.get(path).body.contains("argon2"), "{path}");
    }
}

#[test]
fn of_ten_thousand_wrong_passwords_none_gets_in_and_others_still_do() {
    let stand = Stand::new();
    user(&stand, "admin", "admin");
    let anna = user(&stand, "anna", "viewer");
    let server = Server::strange(&stand);
    // All on one connection, as fast as they are answered.
    let (mut sender, receiver) = {
        let stream = TcpStream::connect(&server.address).unwrap();
        (stream.try_clone().unwrap(), BufReader::new(stream))
    };
    let host = server.address.clone();
    let writer = std::thread::spawn(move || {
        for number in 0..10_000 {
            let body = format!("name=anna&password=guess-{number:06}");
            let head =
                format!("POST /sign-in HTTP/1.1\r\nhost: {host}\r\n{FORM}\r\ncontent-length: {}\r\n", body.len());
            let last = if number == 9_999 { "connection: close\r\n" } else { "" };
            sender.write_all(format!("{head}{last}\r\n{body}").as_bytes()).unwrap();
        }
    });
    let statuses: Vec<u16> = receiver
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| {
            line.strip_prefix("HTTP/1.1 ").or_else(|| Some(line.split_once("HTTP/1.1 ")?.1))?.get(..3)?.parse().ok()
        })
        .collect();
    writer.join().unwrap();
    assert_eq!(statuses.len(), 10_000);
    assert!(statuses.iter().all(|status| [403, 429].contains(status)));
    assert!(statuses.iter().filter(|status| **status == 429).count() > 9_000, "few passwords are hashed");
    let from = |address: &str| {
        let sign_in = format!("http://{}/sign-in", server.address);
        let data = format!("name=anna&password={anna}");
        let words = [
            "-s",
            "-o",
            "/dev/null",
            "-w",
            "%{http_code} %header{retry-after}",
            "--interface",
            address,
            "-d",
            &data,
            &sign_in,
        ];
        ended(Command::new("curl").args(words)).out
    };
    assert!(from("127.0.0.1").starts_with("429 "), "right or wrong, it is not looked at");
    assert_eq!(from("127.0.0.2").trim(), "303");
}

fn curl(words: &[&str]) -> Ended {
    ended(Command::new("curl").args(["-s", "--max-time", "60"]).args(words))
}

#[test]
fn beyond_this_machine_it_takes_users_and_serves_tls() {
    let stand = Stand::new();
    stand.refused(&["serve", "--listen", "0.0.0.0:0"], &["nobody can sign in yet", "stend users add"]);
    let password = user(&stand, "admin", "admin");
    let server = Server::listening(&stand, &["--listen", "0.0.0.0:0"]);
    let port = server.address.rsplit_once(':').unwrap().1.to_owned();
    let certificate = stand.store().join("server-tls/certificate.pem");
    let ca = certificate.to_str().unwrap().to_owned();
    let page = format!("https://localhost:{port}/sign-in");
    let plain = curl(&["--cacert", &ca, "-o", "/dev/null", "-w", "%{http_code}", &page]);
    assert_eq!(plain.out, "200", "{}", plain.err);
    let data = format!("name=admin&password={password}");
    let signed_in =
        curl(&["--cacert", &ca, "-i", "-d", &data, "-H", &format!("origin: https://localhost:{port}"), &page]).out;
    assert!(signed_in.contains("303") && signed_in.contains("Secure"), "{signed_in}");
    // From another site, by another name, without TLS, or without the certificate.
    let status =
        |more: &[&str]| curl(&[&["--cacert", &ca, "-o", "/dev/null", "-w", "%{http_code}"], more].concat()).out;
    assert_eq!(status(&["-d", &data, "-H", &format!("origin: http://localhost:{port}"), &page]), "403");
    assert_eq!(status(&["-H", "host: example.org", &page]), "421");
    assert_ne!(curl(&["-o", "/dev/null", &page]).status, Some(0), "nobody vouches for the certificate");
    assert_ne!(curl(&[&page.replace("https", "http")]).status, Some(0));
    let key = std::fs::metadata(stand.store().join("server-tls/key.pem")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&key.permissions()) & 0o777, 0o600);
    // The next server has the same one: who trusts it needs not do so again.
    let before = std::fs::read(&certificate).unwrap();
    server.kill(Signal::TERM);
    let server = Server::listening(&stand, &["--listen", "0.0.0.0:0"]);
    assert_eq!(std::fs::read(&certificate).unwrap(), before);
    server.kill(Signal::TERM);
    // One's own certificate.
    let own = |name: &str| stand.path().join(name).to_str().unwrap().to_owned();
    let (cert, key, other) = (own("c.pem"), own("k.pem"), own("o.pem"));
    let made = |key: &str, certificate: &str| {
        let words = [
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-subj",
            "/CN=lab",
            "-addext",
            "subjectAltName=DNS:lab.example.org",
            "-keyout",
            key,
            "-out",
            certificate,
        ];
        let made = ended(Command::new("openssl").args(words));
        assert_eq!(made.status, Some(0), "{}", made.err);
    };
    made(&other, &cert);
    made(&key, &cert);
    let server = Server::listening(&stand, &["--listen", "127.0.0.1:0", "--certificate", &cert, "--key", &key]);
    let port = server.address.rsplit_once(':').unwrap().1.to_owned();
    let by = |name: &str| {
        let resolve = format!("{name}:{port}:127.0.0.1");
        let page = format!("https://{name}:{port}/sign-in");
        curl(&["--cacert", &cert, "--resolve", &resolve, "-o", "/dev/null", "-w", "%{http_code}", &page])
    };
    assert_eq!(by("lab.example.org").out, "200");
    drop(server);
    for (certificate, key, part) in [
        (&*cert, &*other, "does not fit"),
        ("/nowhere/c.pem", &key, "/nowhere/c.pem"),
        (&cert, "/nowhere/k.pem", "/nowhere/k.pem"),
        (&key, &key, "no certificate"),
        (&cert, &cert, "private key"),
    ] {
        stand.refused(&["serve", "--listen", "127.0.0.1:0", "--certificate", certificate, "--key", key], &[part]);
    }
    stand.refused(&["serve", "--certificate", &cert], &["--key"]);
}

#[test]
fn a_line_of_the_schedule_queues_a_run_at_its_times_and_one_at_a_time() {
    let stand = Stand::new();
    let gate = gate(&stand, 0);
    let server = Server::new(&stand);
    let add = |cron: &str, order: &Value| {
        server.ask("POST", "/api/v1/schedule", &[JSON], &json!({ "cron": cron, "order": order }).to_string())
    };
    for wrong in ["", "* * *", "0 0 31 2 *", "61 * * * *", "a b c d e", "* * * * * * * *", "@reboot", "0 0 30 2 8"] {
        assert_eq!(add(wrong, &short()).status, 422, "{wrong}");
    }
    assert_eq!(add("0 3 * * *", &json!({ "suite": "none" })).status, 422);
    let mut labelled = short();
    labelled["label"] = json!("nightly");
    assert_eq!(add("0 3 * * *", &labelled).status, 422, "a label is one run's");
    let never = add("0 0 29 2 *", &short());
    assert!(never.status == 201 && never.json()["next_at"].as_str().unwrap().contains("-02-2"), "{}", never.body);
    let line = add("* * * * * *", &short()).json()["id"].clone();
    let jobs = || server.get("/api/v1/jobs").json()["jobs"].as_array().unwrap().clone();
    // The first is measured, the second waits for it, and a third would only make the queue longer.
    let states = || jobs().iter().map(|job| job["state"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    wait_until("the second waits", || states() == ["waiting", "running"]);
    let refused = || entries(&server).iter().filter(|(kind, ..)| kind == "schedule-refused").count();
    let before = refused();
    wait_until("a third is refused", || refused() > before);
    assert_eq!(states(), ["waiting", "running"]);
    assert_eq!(server.ask("DELETE", &format!("/api/v1/schedule/{line}"), &[], "").status, 204);
    assert_eq!(server.ask("DELETE", &format!("/api/v1/schedule/{line}"), &[], "").status, 404);
    gate.open();
    wait_until("all are finished", || jobs().iter().all(|job| job["state"] == "finished"));
    let page = server.get("/schedule").body;
    assert!(page.contains("0 0 29 2 *") && !page.contains("* * * * * *"));
}

#[test]
fn of_those_that_wait_the_one_with_the_highest_priority_is_next() {
    let stand = Stand::new();
    let gate = gate(&stand, 0);
    let server = Server::new(&stand);
    let order = |priority: i32| {
        let mut order = short();
        order["priority"] = json!(priority);
        server.order(&order, &[])
    };
    let first = order(0).json()["id"].clone();
    gate.wait_until_reached();
    let ids: Vec<Value> = [-1, 0, 5, 0, 10].map(|priority| order(priority).json()["id"].clone()).into();
    assert!([order(11).status, order(-11).status].iter().all(|status| *status == 422));
    gate.open();
    server.until(&first, "finished");
    ids.iter().for_each(|id| drop(server.until(id, "finished")));
    let began = |id: &Value| server.job(id)["began_at"].as_str().unwrap().to_owned();
    let mut in_order = ids.clone();
    in_order.sort_by_key(began);
    let expected: Vec<Value> = [4, 2, 1, 3, 0].map(|index: usize| ids[index].clone()).into();
    assert_eq!(in_order, expected);
}

#[test]
fn the_journal_is_added_to_and_never_changed() {
    let stand = Stand::new();
    let server = Server::new(&stand);
    let job = server.order(&short(), &[]).json()["id"].clone();
    server.until(&job, "finished");
    let failing = json!({ "suite": "summit", "repeats": 1, "scale": 0.001, "machine": "away" });
    assert_eq!(server.order(&failing, &[]).status, 422);
    let kinds: Vec<String> = entries(&server).into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!(kinds, ["server-started", "signed-in", "run-queued", "run-began", "run-finished"]);
    let one = server.get("/api/v1/journal?category=runs&limit=2").json();
    assert_eq!(one["entries"][0]["kind"], "run-finished");
    let rest = server.get(&format!("/api/v1/journal?category=runs&before={}", one["next"])).json();
    assert_eq!((rest["entries"][0]["kind"].as_str(), &rest["next"]), (Some("run-queued"), &Value::Null));
    for method in ["DELETE", "PUT", "PATCH", "POST"] {
        assert_eq!(server.ask(method, "/api/v1/journal", &[JSON], "{}").status, 405);
        assert!([404, 405].contains(&server.ask(method, "/api/v1/journal/1", &[JSON], "{}").status));
    }
    let file = Connection::open(stand.store().join("server.db")).unwrap();
    for statement in ["UPDATE entry SET value = '{}'", "UPDATE entry SET key = key || '0'", "DELETE FROM entry"] {
        let statement = format!("{statement} WHERE key = 'lab/journal/000000000001'");
        let refused = file.execute(&statement, []).unwrap_err().to_string();
        assert!(refused.contains("the journal is not"), "{statement}: {refused}");
    }
    let page = server.ask("GET", "/journal", &["accept-language: ru"], "").body;
    assert!(page.contains("Завершён прогон"), "{page}");
}

#[test]
fn who_is_removed_starts_nothing_more_and_hears_nothing_more() {
    let stand = Stand::new();
    let gate = gate(&stand, 0);
    let admin = user(&stand, "admin", "admin");
    let (anna, boris) = (user(&stand, "anna", "operator"), user(&stand, "boris", "operator"));
    let mut server = Server::strange(&stand);
    sign_in(&mut server, "anna", &anna);
    let line = json!({ "cron": "* * * * * *", "order": short() }).to_string();
    let first = server.order(&short(), &[]).json()["id"].clone();
    let waiting = server.order(&short(), &[]).json()["id"].clone();
    gate.wait_until_reached();
    let open = ["/api/v1/changes", &format!("/api/v1/runs/{}/events", server.job(&first)["run"].as_str().unwrap())]
        .map(|path| server.send("GET", path, &[], ""));
    sign_in(&mut server, "boris", &boris);
    let of_boris = server.send("GET", "/api/v1/changes", &[], "");
    assert_eq!(server.ask("POST", "/api/v1/schedule", &[JSON], &line).status, 201);
    sign_in(&mut server, "admin", &admin);
    assert_eq!(server.ask("DELETE", "/api/v1/users/anna", &[], "").status, 204);
    let role = json!({ "role": "viewer" }).to_string();
    assert_eq!(server.ask("PATCH", "/api/v1/users/boris", &[JSON], &role).status, 204);
    for stream in open {
        // It ends, and not because the server does.
        assert!(stream.lines().map_while(Result::ok).count() > 0);
    }
    assert_eq!(server.job(&waiting)["state"], "stopped");
    let refused = || {
        let entries = server.get("/api/v1/journal?limit=1000").json()["entries"].as_array().unwrap().clone();
        entries.iter().any(|entry| entry["detail"].as_str().unwrap().contains("boris may no longer"))
    };
    wait_until("the line queues nothing more", refused);
    // A viewer still hears.
    drop(of_boris);
    gate.open();
    let jobs = || server.get("/api/v1/jobs").json()["jobs"].as_array().unwrap().clone();
    wait_until("what was begun ends", || {
        jobs().iter().all(|job| !["running", "waiting"].contains(&job["state"].as_str().unwrap()))
    });
}

#[test]
fn from_the_first_user_on_nobody_is_in_without_being_one() {
    let stand = Stand::new();
    let server = Server::new(&stand);
    assert_eq!(server.get("/api/v1/me").json(), json!({ "name": null, "role": "admin" }));
    let token = server.ask("POST", "/api/v1/tokens", &[], "").json()["token"].as_str().unwrap().to_owned();
    let made = server.ask("POST", "/access/users", &[FORM], "name=admin&role=admin");
    assert!(made.status == 200 && made.body.contains("<pre>admin"), "{}", made.body);
    assert_eq!(server.get("/api/v1/me").status, 401);
    assert_eq!(server.ask("GET", "/api/v1/me", &[&format!("authorization: Bearer {token}")], "").status, 401);
}

#[test]
fn ones_own_old_password_is_not_guessed_any_faster() {
    let stand = Stand::new();
    let admin = user(&stand, "admin", "admin");
    let mut server = Server::strange(&stand);
    sign_in(&mut server, "admin", &admin);
    let change = |old: &str| {
        let body = json!({ "old": old, "new": "correct horse battery" }).to_string();
        server.ask("POST", "/api/v1/me/password", &[JSON], &body).status
    };
    let statuses: Vec<u16> = (0..20).map(|guess| change(&format!("guess {guess}"))).collect();
    assert!(statuses[0] == 422 && statuses[19] == 429, "{statuses:?}");
    assert_eq!(change(&admin), 429, "right or wrong");
}

#[test]
fn what_is_kept_is_for_the_user_alone_wherever_it_lies() {
    use std::os::unix::fs::PermissionsExt as _;
    let stand = Stand::new();
    std::fs::create_dir(stand.store()).unwrap();
    std::fs::set_permissions(stand.store(), std::fs::Permissions::from_mode(0o755)).unwrap();
    user(&stand, "admin", "admin");
    stand.fine(&["backup", stand.path().join("copy").to_str().unwrap()]);
    let server = Server::strange(&stand);
    for file in ["store/server.db", "store/server.db-wal", "store/server.db-shm", "copy/server.db"] {
        let mode = std::fs::metadata(stand.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{file}: {mode:o}");
    }
    drop(server);
}

/// As the first published format was.
fn old_file(path: &Path) {
    let file = Connection::open(path).unwrap();
    file.execute_batch(
        "CREATE TABLE job (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE, asked TEXT NOT NULL, machine TEXT NOT NULL,
             run TEXT NOT NULL UNIQUE, state TEXT NOT NULL, reason TEXT, asked_at TEXT NOT NULL, began_at TEXT, ended_at TEXT) STRICT;
         CREATE INDEX job_state ON job (state);
         CREATE TABLE secret (digest BLOB PRIMARY KEY, kind TEXT NOT NULL, ends_at INTEGER) STRICT;
         INSERT INTO job (key, asked, machine, run, state, asked_at) VALUES
             ('k', '{\"suite\":\"summit\",\"machine\":\"local\",\"repeats\":1,\"scale\":0.001,\"set\":{\"seconds\":\"0.001\"},\"even_if_unfit\":true}',
              'local', '20260101-0000-3f9a', 'waiting', '2026-01-01T00:00:00Z');
         PRAGMA user_version = 1;",
    )
    .unwrap();
    // The digest of "old".
    let digest: Vec<u8> = (0..64)
        .step_by(2)
        .map(|at| {
            u8::from_str_radix(&"cba06b5736faf67e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4"[at..at + 2], 16)
                .unwrap()
        })
        .collect();
    file.execute("INSERT INTO secret VALUES (?1, 'session', 9999999999)", [&digest]).unwrap();
}

#[test]
fn a_newer_server_keeps_queue_and_sessions_and_an_older_one_leaves_the_file_alone() {
    let stand = Stand::new();
    stand.fine(&["list"]);
    std::fs::create_dir_all(stand.store()).unwrap();
    std::fs::set_permissions(stand.store(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let path = stand.store().join("server.db");
    old_file(&path);
    let mut server = Server::strange(&stand);
    server.cookie = "stend_session=old".into();
    assert_eq!(server.get("/api/v1/me").json(), json!({ "name": null, "role": "admin" }));
    server.until(&json!(1), "finished");
    assert_eq!(stand.json(&["list"])["runs"].as_array().unwrap().len(), 1);
    // What it did not know of is there too.
    let made = server.batch(&json!({ "order": short(), "machines": ["local"], "sessions": 2 }), &[]).json();
    let rounds: Vec<&Value> = made["jobs"].as_array().unwrap().iter().map(|job| &job["round"]).collect();
    assert_eq!((rounds, &server.job(&json!(1))["batch"]), (vec![&json!(1), &json!(2)], &Value::Null));
    server.kill(Signal::TERM);
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99;").unwrap();
    let ended = stand.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(ended.status == Some(4) && ended.err.contains("format 99"), "{}", ended.err);
}

#[test]
fn what_the_tables_of_an_older_server_had_is_all_there() {
    let stand = Stand::new();
    std::fs::create_dir_all(stand.store()).unwrap();
    std::fs::set_permissions(stand.store(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let file = Connection::open(stand.store().join("server.db")).unwrap();
    file.execute_batch(include_str!("fixtures/server-5.sql")).unwrap();
    drop(file);
    // In another store a run of the same name is measured.
    let elsewhere = Stand::new();
    let program = elsewhere.path().join("stend");
    executable(&program, "#!/bin/sh\nread line\n");
    let store = elsewhere.store();
    std::fs::create_dir_all(&store).unwrap();
    let mut other = Command::new(&program)
        .args(["--store".as_ref(), store.as_os_str()])
        .args(["--color=never", "run", "summit", "--id=20261127-1727-2c18"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut server = Server::strange(&stand);
    sign_in(&mut server, "boris", "vfy9v-ywrff-vu7ss-ym2r5");
    let token = "authorization: Bearer 7988beaadb34c93c64cb21ab2814ae490d7bd2d3c9f08007ef98ca0745951935";
    let (me, cookie) = (json!({ "name": "boris", "role": "operator" }), std::mem::take(&mut server.cookie));
    assert_eq!(server.ask("GET", "/api/v1/me", &[token], "").json(), me);
    server.cookie = cookie;
    assert_eq!(server.get("/api/v1/tokens").json()["tokens"][0]["name"], "nightly");
    // What was being measured goes on, and what was stopped stays so, with the round that it was of.
    server.until(&json!(2), "finished");
    other.kill().unwrap();
    other.wait().unwrap();
    let batch = server.get("/api/v1/batches/20261127-1727-2c18").json();
    let of = |field: &str| batch["jobs"].as_array().unwrap().iter().map(|job| job[field].clone()).collect::<Vec<_>>();
    assert_eq!((of("state"), of("round")), (vec![json!("finished"), json!("stopped")], vec![json!(1), json!(2)]));
    let mut as_then = short();
    as_then["only"] = json!([]);
    let again = server.order(&as_then, &["idempotency-key: first"]);
    assert_eq!((again.status, &again.json()["id"]), (200, &json!(1)));
    let next = server.order(&short(), &[]);
    assert_eq!((next.status, &next.json()["id"]), (201, &json!(4)));
    // The number of a line that was removed is not given again.
    let line = json!({ "cron": "0 0 1 1 *", "order": short() }).to_string();
    assert_eq!(server.ask("POST", "/api/v1/schedule", &[JSON], &line).json()["id"], 3);
    let lines = server.get("/api/v1/schedule").json()["lines"].clone();
    assert_eq!(
        (&lines[0]["id"], &lines[0]["cron"], &lines[0]["user"]),
        (&json!(1), &json!("30 2 1 1 *"), &json!("boris"))
    );
    let kept = server.get("/api/v1/files/b20f8182c747b21cf12f25b1778f8067d582b639212d09cf57464cfcb814d2d7").body;
    assert_eq!(kept, "timed by hand");
    let journal = entries(&server);
    assert_eq!(journal[0].0, "user-added", "{journal:?}");
    assert!(journal.len() > 17 && journal[16].0 == "server-ended", "{journal:?}");
}

#[test]
fn who_listens_is_told_of_each_change() {
    let stand = Stand::new();
    let server = Server::new(&stand);
    let mut events = server.send("GET", "/api/v1/changes", &[], "").lines().map_while(Result::ok);
    let mut next = || events.find(|line| line.starts_with("event: change")).unwrap();
    next();
    let line =
        server.ask("POST", "/api/v1/schedule", &[JSON], &json!({ "cron": "0 0 1 1 *", "order": short() }).to_string());
    assert_eq!(line.status, 201, "{}", line.body);
    next();
}
