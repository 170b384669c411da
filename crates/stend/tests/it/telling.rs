//! Whom the server tells of what happens: mail, webhooks and traps, by the real programs that receive them, and rules by which runs are judged.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::common::runs::Runs;
use crate::common::{Stand, wait_until};
use crate::serve::{Server, short};

const FORM: &str = "content-type: application/x-www-form-urlencoded";

/// Writes the settings of a stand's server, which only their owner may read.
pub(crate) fn settings(stand: &Stand, text: &str) {
    let store = stand.store();
    std::fs::create_dir_all(&store).unwrap();
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o700)).unwrap();
    let path = store.join("server.toml");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

pub(crate) const QUICKLY: &str = "[retry]\nfirst = \"10ms\"\nlongest = \"50ms\"\n";

/// What a webhook's receiver does with a request.
#[derive(Clone, Copy)]
pub(crate) enum Deed {
    Answer(u16),
    /// An answer that points elsewhere.
    PointTo(u16),
    /// An answer without an end.
    Endless,
    /// A head without an end.
    EndlessHead,
}

/// A request as it came.
pub(crate) struct Posted {
    head: String,
    pub(crate) body: String,
}

impl Posted {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    fn kind(&self) -> String {
        self.json()["entry"]["kind"].as_str().unwrap().to_owned()
    }
}

/// A receiver of webhooks: the first requests are met with these deeds, the others are taken.
pub(crate) fn receiver(deeds: Vec<Deed>) -> (u16, Receiver<Posted>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (send, receive) = channel();
    let mut deeds = deeds.into_iter();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).is_ok_and(|length| length > 0) {}
            let posted = Posted { head, body: String::new() };
            let length = posted.header("content-length").and_then(|length| length.parse().ok());
            let mut body = vec![0; length.unwrap_or_default()];
            // A server that ends meanwhile sends a part, and the next one all of it.
            if length.is_none() || stream.read_exact(&mut body).is_err() {
                continue;
            }
            let deed = deeds.next().unwrap_or(Deed::Answer(204));
            // The test may have seen enough.
            let _ = send.send(Posted { body: String::from_utf8(body).unwrap(), ..posted });
            let _ = answer(stream.get_mut(), deed);
        }
    });
    (port, receive)
}

fn answer(stream: &mut TcpStream, deed: Deed) -> std::io::Result<()> {
    match deed {
        Deed::Answer(status) => write!(stream, "HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
        Deed::PointTo(port) => write!(
            stream,
            "HTTP/1.1 307 x\r\nlocation: http://127.0.0.1:{port}/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        ),
        Deed::Endless => {
            write!(stream, "HTTP/1.1 200 x\r\n\r\n")?;
            // Until the other side has had enough.
            loop {
                stream.write_all(&[b'x'; 4096])?;
            }
        }
        Deed::EndlessHead => {
            write!(stream, "HTTP/1.1 200 x\r\n")?;
            loop {
                stream.write_all(format!("x-more: {}\r\n", "x".repeat(1000)).as_bytes())?;
            }
        }
    }
}

/// A port at which nobody listens.
fn closed_port() -> TcpListener {
    // It is bound and not listened on: no other program gets it meanwhile. (The library listens, so the socket is made by hand.)
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None).unwrap();
    rustix::net::bind(&socket, &std::net::SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    TcpListener::from(socket)
}

fn signature(secret: &str, time: &str, body: &str) -> String {
    let mut openssl = Command::new("openssl")
        .args(["dgst", "-sha256", "-hmac", secret])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    write!(openssl.stdin.take().unwrap(), "{time}.{body}").unwrap();
    let said = String::from_utf8(openssl.wait_with_output().unwrap().stdout).unwrap();
    said.trim().rsplit("= ").next().unwrap().to_owned()
}

/// The journal, oldest first.
fn journal(server: &Server) -> Vec<Value> {
    let mut entries = server.get("/api/v1/journal?limit=1000").json()["entries"].as_array().unwrap().clone();
    entries.reverse();
    entries
}

fn kinds(entries: &[Value]) -> Vec<&str> {
    entries.iter().map(|entry| entry["kind"].as_str().unwrap()).collect()
}

/// Somebody tries to sign in: an entry whose text is theirs.
pub(crate) fn refused_sign_in(server: &Server, name: &str) {
    let form = format!("name={name}&password=no");
    assert_eq!(server.ask("POST", "/sign-in", &[FORM], &form).status, 403);
}

/// How far in the journal somebody is told.
fn place(stand: &Stand, name: &str) -> i64 {
    let database = rusqlite::Connection::open(stand.store().join("server.db")).unwrap();
    let query = "SELECT value ->> 'last' FROM entry WHERE key = 'lab/told/' || ?1";
    database.query_row(query, [name], |row| row.get(0)).unwrap()
}

#[test]
fn a_webhook_gets_each_entry_signed_and_in_order_whatever_the_others_do() {
    let stand = Stand::new();
    let refused = Deed::Answer(500);
    let (elsewhere, strayed) = receiver(Vec::new());
    let (port, posted) = receiver(vec![refused, refused, Deed::PointTo(elsewhere), Deed::EndlessHead, Deed::Endless]);
    let (other, of_other) = receiver(Vec::new());
    let down = closed_port();
    let down_port = down.local_addr().unwrap().port();
    settings(
        &stand,
        &format!(
            "name = \"lab-7\"\n{QUICKLY}\
             [[webhook]]\nname = \"down\"\nurl = \"http://127.0.0.1:{down_port}/path-secret-1\"\n\
             [[webhook]]\nname = \"first\"\nurl = \"http://127.0.0.1:{port}/path-secret-2?x=1\"\nsecret = \"key-secret-3\"\n\
             [[webhook]]\nname = \"grave\"\nurl = \"http://localhost:{other}/\"\nonly_grave = true\ncategories = [\"users\"]\nlanguage = \"ru\"\n"
        ),
    );
    let server = Server::new(&stand);
    refused_sign_in(&server, "nobody%0D%0Aat-all");
    // Four times the first entry is refused. The fifth time it is taken, though the answer has no end.
    let mut seen = Vec::new();
    while seen.len() < 7 {
        seen.push(posted.recv().unwrap());
    }
    let told: Vec<_> = seen.iter().map(Posted::kind).collect();
    assert_eq!(told[..5], ["server-started"; 5]);
    assert_eq!(told[5..], ["signed-in", "sign-in-refused"]);
    let entries = journal(&server);
    for one in &seen {
        let (time, v1) = one.header("stend-signature").unwrap().split_once(",v1=").unwrap();
        assert_eq!(v1, signature("key-secret-3", time.strip_prefix("t=").unwrap(), &one.body));
        let said = one.json();
        assert_eq!(said["lab"], "lab-7");
        assert!(entries.contains(&said["entry"]), "as the API gives it: {said}");
        assert_eq!(one.header("stend-id").unwrap(), format!("lab-7-{}", said["entry"]["id"]));
        assert!(one.head.starts_with("POST /path-secret-2?x=1 HTTP/1.1\r\n"), "{}", one.head);
    }
    let russian = of_other.recv().unwrap();
    assert_eq!(russian.kind(), "sign-in-refused");
    let text = russian.json()["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("Неверный пароль") && !text.chars().any(char::is_control), "{text:?}");
    assert!(russian.header("stend-signature").is_none());
    assert!(strayed.try_recv().is_err(), "where the answer pointed nobody was told");
    // What failed is in the journal, once for each that failed, and told nobody.
    wait_until("both failures are noted", || {
        kinds(&journal(&server)).iter().filter(|kind| **kind == "telling-failed").count() == 2
    });
    let failed: Vec<_> = journal(&server).into_iter().filter(|entry| entry["kind"] == "telling-failed").collect();
    let of = |name: &str| failed.iter().find(|entry| entry["about"] == name).unwrap()["detail"].clone();
    assert_eq!(of("first"), "it answered 500");
    assert!(of("down").as_str().unwrap().contains("refused"), "{failed:?}");
    // After a restart each goes on behind what it was told.
    let place = |name: &str| place(&stand, name);
    let newest = journal(&server).last().unwrap()["id"].as_i64().unwrap();
    wait_until("it has been told of all", || place("first") == newest && place("grave") == newest);
    assert_eq!(place("down"), 0, "it is still to be told of the first");
    server.kill(Signal::TERM);
    let server = Server::new(&stand);
    // What was sent just before the end, and not yet known to be sent, comes again under its id.
    let mut told = Vec::new();
    while told.len() < 3 {
        let one = posted.recv().unwrap();
        let told_now = (one.header("stend-id").unwrap().to_owned(), one.kind());
        if told.last() != Some(&told_now) {
            told.push(told_now);
        }
    }
    let kinds_told: Vec<_> = told.iter().map(|(_, kind)| kind.as_str()).collect();
    assert_eq!(kinds_told, ["server-ended", "server-started", "signed-in"]);
    // Whoever was down comes back, and gets all of it.
    rustix::net::listen(&down, 16).unwrap();
    let first = down.accept().unwrap().0;
    let mut head = String::new();
    BufReader::new(first).read_line(&mut head).unwrap();
    assert_eq!(head.trim(), "POST /path-secret-1 HTTP/1.1");
    // No secret is anywhere but in the settings.
    let pages = ["/", "/journal", "/access", "/api/v1/journal", "/metrics"].map(|path| server.get(path).body).join("");
    let kept = ["server.db", "server.db-wal"].map(|file| std::fs::read(stand.store().join(file)).unwrap_or_default());
    let all = pages + &String::from_utf8_lossy(&kept.concat());
    assert!(all.contains("telling-failed") && !all.contains("-secret-"), "a secret is shown or kept");
}

#[test]
fn what_cannot_be_told_for_long_is_given_up_and_noted() {
    let stand = Stand::new();
    let down = closed_port();
    let (port, posted) = receiver(Vec::new());
    settings(
        &stand,
        &format!(
            "{QUICKLY}give_up = \"1s\"\n\
             [[webhook]]\nname = \"down\"\nurl = \"http://127.0.0.1:{}/\"\n\
             [[webhook]]\nname = \"other\"\nurl = \"http://127.0.0.1:{port}/\"\n",
            down.local_addr().unwrap().port()
        ),
    );
    let _server = Server::new(&stand);
    let told: Vec<_> = posted.iter().take(3).collect();
    assert_eq!(told.iter().map(Posted::kind).collect::<Vec<_>>()[..2], ["server-started", "signed-in"]);
    // The other one is told of it. That something is given up is not given up in its turn: the one that is down is not told of it.
    let entry = told[2].json()["entry"].clone();
    assert_eq!(
        (&entry["kind"], &entry["about"], &entry["is_grave"]),
        (&json!("telling-given-up"), &json!("down"), &json!(true))
    );
    assert!(entry["detail"].as_str().unwrap().ends_with("Connection refused (os error 111)"), "{entry}");
}

/// A program that receives, and what it prints.
pub(crate) struct Receiving {
    child: Child,
    pub(crate) lines: Receiver<String>,
}

impl Receiving {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).for_each(|line| drop(send.send(line))));
        Self { child, lines }
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An SMTP server by aiosmtpd: it prints its port, then each message as a line of JSON. The first sign-ins are refused, so many.
pub(crate) const SMTPD: &str = r#"
import asyncio, json, ssl, sys
from aiosmtpd.smtp import SMTP, AuthResult
refuse = int(sys.argv[1])
how = sys.argv[2]
tls = None
if how != "none":
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(sys.argv[3], sys.argv[4])
class Handler:
    async def handle_DATA(self, server, session, envelope):
        print(json.dumps({"from": envelope.mail_from, "to": envelope.rcpt_tos, "tls": session.ssl is not None or how == "tls",
            "user": session.auth_data and session.auth_data.login.decode(), "text": envelope.content.decode()}), flush=True)
        return "250 OK"
def sign_in(server, session, envelope, mechanism, data):
    global refuse
    refuse -= 1
    if refuse >= 0 or data.password != b"password-secret-4":
        return AuthResult(success=False, handled=False, message="535 5.7.8 password-secret-4 is wrong")
    return AuthResult(success=True, auth_data=data)
def make():
    return SMTP(Handler(), hostname="localhost", tls_context=tls if how == "starttls" else None, require_starttls=how == "starttls",
        auth_required=how != "none", auth_require_tls=how == "starttls", authenticator=sign_in)
async def main():
    server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0, ssl=tls if how == "tls" else None)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"#;

/// The Python that has aiosmtpd: not any one on PATH has what the system's packages bring.
pub(crate) fn python_with_smtpd() -> Option<&'static str> {
    let has = |python: &&str| {
        let tried = Command::new(python).args(["-c", "import aiosmtpd"]).stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    };
    let found = ["python3", "/usr/bin/python3"].into_iter().find(has);
    may_skip(found.is_some(), "python3-aiosmtpd");
    found
}

fn may_skip(is_there: bool, package: &str) {
    if !is_there {
        assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped: {package} is missing");
        eprintln!("skipped: {package} is missing");
    }
}

/// A certificate for this machine, and its key.
fn certificate(stand: &Stand) -> (PathBuf, PathBuf) {
    let (certificate, key) = (stand.path().join("certificate.pem"), stand.path().join("key.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"])
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    (certificate, key)
}

/// What a person sees of a message: its headers, unfolded and decoded, and its text.
pub(crate) fn read_mail(python: &str, message: &Value) -> Value {
    let script = "import sys, json, email, email.policy\n\
        m = email.message_from_string(json.load(sys.stdin)['text'], policy=email.policy.default)\n\
        print(json.dumps({'headers': [[k.lower(), str(v)] for k, v in m.items()], 'body': m.get_content()}))";
    let mut reader =
        Command::new(python).args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    write!(reader.stdin.take().unwrap(), "{message}").unwrap();
    serde_json::from_slice(&reader.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn a_mail_goes_out_by_tls_and_password_for_what_came_together() {
    let Some(python) = python_with_smtpd() else { return };
    for how in ["starttls", "tls", "none"] {
        let stand = Stand::new();
        let (certificate, key) = certificate(&stand);
        let mut command = Command::new(python);
        let refuse = if how == "none" { "0" } else { "2" };
        command.args(["-W", "ignore", "-c", SMTPD, refuse, how]).arg(&certificate).arg(&key);
        let smtpd = Receiving::start(&mut command);
        let port = smtpd.lines.recv().unwrap();
        let mut more = format!("tls = \"{how}\"\n");
        if how != "none" {
            more += &format!(
                "user = \"lab\"\npassword = \"password-secret-4\"\nauthority = \"{}\"\n",
                certificate.display()
            );
        }
        let language = if how == "tls" { "ru" } else { "en" };
        settings(
            &stand,
            &format!(
                "name = \"lab-7\"\n{QUICKLY}\
                 [mail]\nserver = \"localhost:{port}\"\nfrom = \"Лаборатория <lab@example.org>\"\n\
                 to = [\"a@example.org\", \"B <b@example.org>\"]\ncategories = [\"users\"]\ngather = \"1s\"\nlanguage = \"{language}\"\n{more}"
            ),
        );
        let server = Server::new(&stand);
        refused_sign_in(&server, "x%0D%0ABcc:+evil@example.org%0D%0A%0D%0A.%0D%0A");
        let mut entries = 0;
        let mut all = String::new();
        // What came together is in one mail; on a busy machine the second entry may come late.
        while entries < 2 {
            let message: Value = serde_json::from_str(&smtpd.lines.recv().unwrap()).unwrap();
            assert_eq!(message["to"], json!(["a@example.org", "b@example.org"]), "{message}");
            assert_eq!((&message["from"], &message["tls"]), (&json!("lab@example.org"), &json!(how != "none")));
            assert_eq!(message["user"], if how == "none" { Value::Null } else { json!("lab") });
            let mail = read_mail(python, &message);
            let header = |name: &str| {
                let found: Vec<_> = mail["headers"].as_array().unwrap().iter().filter(|one| one[0] == name).collect();
                assert!(found.len() < 2, "{name} is there twice: {mail}");
                found.first().map(|one| one[1].as_str().unwrap().to_owned())
            };
            assert_eq!(header("bcc"), None);
            assert_eq!(header("auto-submitted").unwrap(), "auto-generated");
            assert!(header("from").unwrap().contains("Лаборатория"), "{mail}");
            assert!(header("message-id").unwrap().starts_with("<lab-7-"), "{mail}");
            let subject = header("subject").unwrap();
            assert!(subject.starts_with("[lab-7] ") && subject.lines().count() == 1, "{subject}");
            let body = mail["body"].as_str().unwrap();
            entries += body.lines().filter(|line| !line.is_empty()).count();
            all += &format!("{subject}\n{body}");
        }
        assert_eq!(entries, 2, "each entry is a line: {all}");
        let (wrong, signed_in) = if how == "tls" {
            ("✗ Неверный пароль: x", "Вход с адреса")
        } else {
            ("✗ Wrong password for x", "signed in from")
        };
        assert!(all.contains(wrong) && all.contains(signed_in), "{all}");
        let failed: Vec<_> = journal(&server).into_iter().filter(|entry| entry["kind"] == "telling-failed").collect();
        assert_eq!(failed.len(), usize::from(how != "none"), "{failed:?}");
        if let Some(failed) = failed.first() {
            let detail = failed["detail"].as_str().unwrap();
            assert!(
                detail.contains("535") && !detail.contains("secret"),
                "what the server quoted is left out: {detail}"
            );
        }
    }
}

/// Whom this machine does not trust gets no password.
#[test]
fn a_mail_server_with_a_certificate_of_nobody_is_not_trusted() {
    let Some(python) = python_with_smtpd() else { return };
    let stand = Stand::new();
    let (certificate, key) = certificate(&stand);
    let smtpd = Receiving::start(
        Command::new(python)
            .args(["-W", "ignore", "-c", SMTPD, "0", "starttls"])
            .arg(&certificate)
            .arg(&key)
            .stderr(Stdio::null()),
    );
    let port = smtpd.lines.recv().unwrap();
    settings(
        &stand,
        &format!(
            "{QUICKLY}[mail]\nserver = \"localhost:{port}\"\nfrom = \"lab@example.org\"\nto = [\"a@example.org\"]\n\
             gather = \"0s\"\nuser = \"lab\"\npassword = \"password-secret-4\"\n"
        ),
    );
    let server = Server::new(&stand);
    wait_until("it is noted", || kinds(&journal(&server)).contains(&"telling-failed"));
    let failed = journal(&server).into_iter().find(|entry| entry["kind"] == "telling-failed").unwrap();
    assert!(failed["detail"].as_str().unwrap().contains("certificate"), "{failed}");
    assert!(smtpd.lines.try_recv().is_err());
}

/// The modules that the MIB imports from, as far as it does: Debian has them in no package.
const BASE_MIBS: &[(&str, &str)] = &[
    (
        "SNMPv2-SMI",
        "SNMPv2-SMI DEFINITIONS ::= BEGIN\norg OBJECT IDENTIFIER ::= { iso 3 }\ndod OBJECT IDENTIFIER ::= { org 6 }\n\
         internet OBJECT IDENTIFIER ::= { dod 1 }\nprivate OBJECT IDENTIFIER ::= { internet 4 }\n\
         enterprises OBJECT IDENTIFIER ::= { private 1 }\nsnmpV2 OBJECT IDENTIFIER ::= { internet 6 }\n\
         snmpModules OBJECT IDENTIFIER ::= { snmpV2 3 }\nEND\n",
    ),
    (
        "SNMPv2-TC",
        "SNMPv2-TC DEFINITIONS ::= BEGIN\nIMPORTS snmpModules FROM SNMPv2-SMI;\n\
         TruthValue ::= TEXTUAL-CONVENTION\n    STATUS current\n    DESCRIPTION \"x\"\n    SYNTAX INTEGER { true(1), false(2) }\nEND\n",
    ),
    (
        "SNMP-FRAMEWORK-MIB",
        "SNMP-FRAMEWORK-MIB DEFINITIONS ::= BEGIN\nIMPORTS snmpModules FROM SNMPv2-SMI;\n\
         SnmpAdminString ::= TEXTUAL-CONVENTION\n    DISPLAY-HINT \"255t\"\n    STATUS current\n    DESCRIPTION \"x\"\n    SYNTAX OCTET STRING (SIZE (0..255))\nEND\n",
    ),
    ("SNMPv2-CONF", "SNMPv2-CONF DEFINITIONS ::= BEGIN\nIMPORTS snmpModules FROM SNMPv2-SMI;\nEND\n"),
];

/// A directory of MIBs with that of this program.
fn mibs(stand: &Stand) -> PathBuf {
    // Net-SNMP tells of directories that it makes.
    std::fs::create_dir_all(stand.path().join("snmp/cert_indexes")).unwrap();
    let directory = stand.path().join("mibs");
    std::fs::create_dir(&directory).unwrap();
    for (name, text) in BASE_MIBS {
        std::fs::write(directory.join(format!("{name}.txt")), text).unwrap();
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/STEND-MIB.txt");
    std::fs::copy(own, directory.join("STEND-MIB.txt")).unwrap();
    directory
}

#[test]
fn net_snmp_reads_the_mib_without_a_word() {
    let is_there = stend_testing::have("snmptranslate");
    may_skip(is_there, "snmp");
    if !is_there {
        return;
    }
    let stand = Stand::new();
    let directory = mibs(&stand);
    let translate = |words: &[&str]| {
        let output = Command::new("snmptranslate")
            .env("MIBS", "STEND-MIB")
            .env("SNMP_PERSISTENT_DIR", stand.path().join("snmp"))
            .arg("-M")
            .arg(&directory)
            .args(["-Pe", "-Pw"])
            .args(words)
            .output()
            .unwrap();
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(translate(&["-On", "STEND-MIB::stendGraveEntry"]).trim(), ".1.3.6.1.4.1.8072.9999.9999.7836.0.2");
    let tree = translate(&["-Tp", "STEND-MIB::stendMIB"]);
    for name in ["stendLab", "stendEntryId", "stendIsGrave", "stendText", "stendEntry"] {
        assert!(tree.contains(name), "{name}: {tree}");
    }
}

/// A port at which a process listens; the table is `udp` or `tcp` of the kernel's.
fn port_of(child: &Child, table: &str) -> Option<u16> {
    let descriptors = std::fs::read_dir(format!("/proc/{}/fd", child.id())).ok()?;
    let sockets: Vec<_> = descriptors
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.trim_end_matches(']').to_owned()))
        .collect();
    // Of TCP those that listen, of UDP those that are not connected.
    let state = if table == "tcp" { "0A" } else { "07" };
    let table = std::fs::read_to_string(format!("/proc/{}/net/{table}", child.id())).ok()?;
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let is_its = fields[3] == state && sockets.iter().any(|socket| socket == fields[9]);
        let port = u16::from_str_radix(fields[1].rsplit(':').next()?, 16).ok()?;
        (is_its && port != 0).then_some(port)
    })
}

/// Waits until it listens.
fn listening(child: &Child, table: &str) -> u16 {
    let mut port = None;
    wait_until("it listens", || {
        port = port_of(child, table);
        port.is_some()
    });
    port.unwrap()
}

#[test]
fn a_trap_is_what_snmptrapd_makes_of_it() {
    let snmptrapd = crate::common::on_path("snmptrapd");
    may_skip(!snmptrapd.is_empty(), "snmptrapd");
    if snmptrapd.is_empty() {
        return;
    }
    let stand = Stand::new();
    let directory = mibs(&stand);
    let config = stand.path().join("snmptrapd.conf");
    std::fs::write(&config, "authCommunity log community-secret-5\n").unwrap();
    let mut command = Command::new(snmptrapd);
    command.env("SNMP_PERSISTENT_DIR", stand.path().join("snmp")).env("MIBS", "STEND-MIB").arg("-M").arg(&directory);
    // One line for each trap, with all that is in it.
    command.args(["-f", "-n", "-C", "-Lo", "-OQ", "-F", "%P|%v\\n", "-c"]).arg(&config).arg("udp:127.0.0.1:0");
    let trapd = Receiving::start(&mut command);
    let port = listening(&trapd.child, "udp");
    settings(
        &stand,
        &format!(
            "name = \"lab-7\"\n{QUICKLY}[[trap]]\nto = \"127.0.0.1:{}\"\ncommunity = \"community-secret-5\"\ncategories = [\"users\"]\n",
            port
        ),
    );
    let server = Server::new(&stand);
    let long = "n".repeat(60) + "%0A";
    refused_sign_in(&server, &long);
    let mut traps = trapd.lines.iter().filter(|line| line.contains("stend"));
    let (calm, grave) = (traps.next().unwrap(), traps.next().unwrap());
    for (trap, parts) in [
        (
            &calm,
            [
                "stendEntry",
                "signed-in",
                "stendIsGrave.0 = false",
                "stendWho.0 = \t",
                "signed in from 127.0.0.1 as admin",
            ],
        ),
        (
            &grave,
            ["stendGraveEntry", "sign-in-refused", "stendIsGrave.0 = true", "nnnnnnnnnn", "Wrong password for nnn"],
        ),
    ] {
        for part in parts {
            assert!(trap.contains(part), "{part}: {trap}");
        }
        assert!(trap.contains("stendLab.0 = lab-7") && trap.contains("stendCategory.0 = users"), "{trap}");
    }
    let entry = journal(&server).into_iter().find(|entry| entry["kind"] == "signed-in").unwrap();
    assert!(calm.contains(&format!("stendEntryId.0 = {}", entry["id"])), "{calm}");
    assert!(calm.contains(&format!("stendAt.0 = {}", entry["at"].as_str().unwrap())), "{calm}");
}

/// Runs that were forged stand in the journal as runs of the queue that have just finished.
#[test]
fn a_run_that_is_worse_than_a_rule_allows_is_noted_with_its_figures() {
    let runs = Runs::new();
    let base = "20260101-0000-0001";
    let (worse, fine, other) = ("20260102-0000-0002", "20260103-0000-0003", "20260104-0000-0004");
    runs.add(&[
        runs.run(base, &[("one", 10.0), ("two", 10.0), ("three", 10.0)]),
        runs.run(worse, &[("one", 12.0), ("two", 10.2), ("three", 8.0)]),
        runs.run(fine, &[("one", 10.2), ("two", 10.0), ("three", 10.0)]),
        runs.run(other, &[("one", 20.0), ("two", 10.0), ("three", 10.0)]),
    ]);
    let stand = &runs.stand;
    stand.fine(&["label", base, "release"]);
    let rule = |against: &str| format!("[[rule]]\nsuite = \"nightly\"\nthan = \"5 %\"\nagainst = \"{against}\"\n");
    settings(stand, &(rule("release") + &rule("no-such-label")));
    // Places are made at the journal's end: what is noted now is judged by the next server.
    Server::new(stand).kill(Signal::TERM);
    let finish = |run: &str, suite: &str| {
        let database = rusqlite::Connection::open(stand.store().join("server.db")).unwrap();
        let entry = "INSERT INTO entry SELECT printf('lab/journal/%012d', substr(max(key), 13) + 1), json_object(
            'at', '2026-01-02T00:00:00Z', 'kind', 'run-finished', 'who', NULL, 'about', ?1, 'detail', ?2), 1
            FROM entry WHERE key GLOB 'lab/journal/*'";
        database.execute(entry, [run, suite]).unwrap();
    };
    for run in [worse, fine] {
        finish(run, "nightly");
    }
    finish(other, "weekly");
    let server = Server::new(stand);
    // A rule is followed once for all that came before what it has seen.
    let place = || place(stand, "");
    let started =
        journal(&server).iter().rfind(|entry| entry["kind"] == "server-started").unwrap()["id"].as_i64().unwrap();
    wait_until("all runs are judged", || place() >= started);
    let said: Vec<_> = journal(&server).into_iter().filter(|entry| entry["category"] == "verdicts").collect();
    assert_eq!(kinds(&said), ["run-worse", "rule-refused"], "{said:#?}");
    assert_eq!((&said[0]["about"], &said[0]["is_grave"]), (&json!(worse), &json!(true)));
    let detail = said[0]["detail"].as_str().unwrap();
    // 10 ms against 12 ms is a sixth less. What is worse by less than the rule says is not named, nor what is better.
    assert!(detail.starts_with("release: one −16.7 % (−") && detail.ends_with(" %)"), "{detail}");
    assert!(!detail.contains("two") && !detail.contains("three"), "{detail}");
    // Once, though two runs finished.
    assert_eq!((&said[1]["about"], &said[1]["is_grave"]), (&json!("nightly against no-such-label"), &json!(false)));
    let refused = said[1]["detail"].as_str().unwrap();
    assert!(refused.contains("no-such-label") && refused.lines().count() == 1, "{refused}");
    let page = server.get("/journal?category=verdicts").body;
    assert!(page.contains(&format!("Run {worse} is worse than release: one −16.7 %")), "{page}");
}

#[test]
fn a_run_of_the_queue_is_judged_when_it_finishes() {
    let stand = Stand::new();
    settings(&stand, "[[rule]]\nsuite = \"summit\"\nthan = \"5 %\"\nagainst = \"no-such-label\"\n");
    let server = Server::new(&stand);
    let job = server.order(&short(), &[]).json()["id"].clone();
    server.until(&job, "finished");
    wait_until("it is judged", || kinds(&journal(&server)).contains(&"rule-refused"));
}

/// The value of a metric, by its name with its labels.
fn metric(page: &str, name: &str) -> Option<f64> {
    page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[test]
fn metrics_are_for_those_who_may_look_and_say_what_the_lab_has() {
    let stand = Stand::new();
    let down = closed_port();
    let (port, posted) = receiver(Vec::new());
    settings(
        &stand,
        &format!(
            "{QUICKLY}[[webhook]]\nname = \"a \\\"quoted\\\" one\"\nurl = \"http://127.0.0.1:{port}/\"\n\
             [[webhook]]\nname = \"down\"\nurl = \"http://127.0.0.1:{}/\"\n",
            down.local_addr().unwrap().port()
        ),
    );
    assert_eq!(Server::strange(&stand).get("/metrics").status, 401);
    let server = Server::new(&stand);
    let job = server.order(&short(), &[]).json()["id"].clone();
    server.until(&job, "finished");
    while posted.recv().unwrap().kind() != "run-finished" {}
    let newest = journal(&server).iter().rfind(|entry| entry["kind"] != "telling-failed").unwrap()["id"].clone();
    let mut page = String::new();
    wait_until("what was delivered is counted", || {
        page = server.get("/metrics").body;
        metric(&page, "stend_delivery_failing{destination=\"down\"}") == Some(1.0)
            && metric(&page, "stend_deliveries_total{destination=\"a \\\"quoted\\\" one\",result=\"delivered\"}")
                .is_some_and(|count| count + 1.0 >= newest.as_f64().unwrap())
    });
    let run = stand.json(&["list"])["runs"][0].clone();
    for (name, value) in [
        ("stend_jobs{state=\"finished\"}", 1.0),
        ("stend_jobs{state=\"failed\"}", 0.0),
        ("stend_queue_jobs{machine=\"local\"}", 0.0),
        ("stend_queue_age_seconds{machine=\"local\"}", 0.0),
        ("stend_runs{state=\"finished\"}", 1.0),
        ("stend_repeats{outcome=\"valid\"}", run["valid"].as_f64().unwrap()),
        ("stend_repeats{outcome=\"invalid\"}", run["invalid"].as_f64().unwrap()),
        ("stend_journal_entries_total{category=\"runs\",grave=\"false\"}", 3.0),
        ("stend_journal_entries_total{category=\"verdicts\",grave=\"true\"}", 0.0),
        ("stend_delivery_failing{destination=\"a \\\"quoted\\\" one\"}", 0.0),
        ("stend_deliveries_total{destination=\"down\",result=\"delivered\"}", 0.0),
    ] {
        assert_eq!(metric(&page, name), Some(value), "{name}\n{page}");
    }
    assert!(metric(&page, "stend_load1").is_some(), "{page}");
}

/// Each query of the dashboard has a result in the real Prometheus.
#[test]
fn prometheus_scrapes_the_metrics_and_answers_the_dashboards_queries() {
    let is_there = stend_testing::have("prometheus") && stend_testing::have("promtool");
    may_skip(is_there, "prometheus");
    if !is_there {
        return;
    }
    let stand = Stand::new();
    let (port, _posted) = receiver(Vec::new());
    settings(&stand, &format!("[[webhook]]\nurl = \"http://127.0.0.1:{port}/\"\n"));
    let server = Server::new(&stand);
    let token = server.ask("POST", "/api/v1/tokens", &[], "").json()["token"].as_str().unwrap().to_owned();
    let page = server.get("/metrics").body;
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    promtool.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let checked = promtool.wait_with_output().unwrap();
    assert!(checked.status.success() && checked.stderr.is_empty(), "{}", String::from_utf8_lossy(&checked.stderr));
    let config = stand.path().join("prometheus.yml");
    let text = format!(
        "scrape_configs:\n- job_name: stend\n  scrape_interval: 1s\n  authorization: {{ credentials: \"{token}\" }}\n  \
         static_configs: [{{ targets: [\"{}\"] }}]\n",
        server.address
    );
    std::fs::write(&config, text).unwrap();
    let mut command = Command::new("prometheus");
    command.arg(format!("--config.file={}", config.display()));
    command.arg(format!("--storage.tsdb.path={}", stand.path().join("prometheus").display()));
    let prometheus = Receiving::start(command.arg("--web.listen-address=127.0.0.1:0").stderr(Stdio::null()));
    let at = format!("http://127.0.0.1:{}", listening(&prometheus.child, "tcp"));
    let query = |expression: &str| {
        let output = Command::new("promtool").args(["query", "instant", &at, expression]).output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr))
    };
    wait_until("it has scraped", || query("up{job=\"stend\"} == 1").1.contains("=> 1"));
    let dashboard = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/grafana-dashboard.json");
    let dashboard: Value = serde_json::from_str(&std::fs::read_to_string(dashboard).unwrap()).unwrap();
    let mut asked = String::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let expression = target["expr"].as_str().unwrap();
            asked += expression;
            // Not every machine has sensors.
            if expression.starts_with("stend_temperature") && !page.contains("stend_temperature") {
                let (is_fine, said) = query(expression);
                assert!(is_fine, "{expression}: {said}");
                continue;
            }
            wait_until(&format!("{expression} has a result"), || {
                let (is_fine, said) = query(expression);
                assert!(is_fine || said.contains("connect"), "{expression}: {said}");
                is_fine && said.contains("=>")
            });
        }
    }
    for metric in page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()) {
        assert!(asked.contains(metric), "{metric} is on no panel");
    }
}

#[test]
fn settings_that_make_no_sense_start_no_server() {
    let stand = Stand::new();
    for (text, part) in [("[mial]\n", "mial"), ("[[rule]]\nsuite = \"a\"\nagainst = \"b\"\n", "than")] {
        settings(&stand, text);
        stand.refused(&["serve", "--listen", "127.0.0.1:0"], &["server.toml", part]);
    }
    settings(&stand, "[[trap]]\nto = \"localhost:162\"\ncommunity = \"hunter2\"\n");
    std::fs::set_permissions(stand.store().join("server.toml"), std::fs::Permissions::from_mode(0o644)).unwrap();
    stand.refused(&["serve", "--listen", "127.0.0.1:0"], &["server.toml", "chmod 600"]);
}
