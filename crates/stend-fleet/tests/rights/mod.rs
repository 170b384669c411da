//! Who may speak to etcd, and what a user of it may do.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
};
use serde_json::{Value, json};
use stend_fleet::{Access, Address, Agreement as _, Change, Committed, Condition, Etcd, Trouble};
use stend_testing::etcd::Member;
use stend_testing::{own_address, wait_for};

use crate::engines::{coded, etcd};

/// An authority, and what it vouches for.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut of_authority = CertificateParams::new(Vec::new()).unwrap();
        of_authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        of_authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        Self(CertifiedIssuer::self_signed(of_authority, KeyPair::generate().unwrap()).unwrap())
    }

    /// A certificate for this machine, and its key. etcd's gateway is a client of etcd with the server's certificate.
    fn issue(&self) -> (Vec<u8>, Vec<u8>) {
        let mut of_it = CertificateParams::new(vec![own_address().split(':').next().unwrap().to_owned()]).unwrap();
        of_it.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        let certificate = of_it.signed_by(&key, &self.0).unwrap();
        (certificate.pem().into_bytes(), key.serialize_pem().into_bytes())
    }

    fn pem(&self) -> Vec<u8> {
        self.0.pem().into_bytes()
    }
}

fn put(etcd: &Etcd, key: &str) -> Result<Committed, Trouble> {
    etcd.commit(&[Condition::Absent(key.into())], &[Change::Put(key.into(), "x".into())])
}

#[test]
fn only_members_of_the_authority_are_asked_and_only_its_clients_answered() {
    let (authority, other) = (Authority::new(), Authority::new());
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (certificate, key) = authority.issue();
    let (certificate, key) = (write("member.pem", &certificate), write("member.key", &key));
    let trusted = write("authority.pem", &authority.pem());
    let options =
        ["--cert-file", &certificate, "--key-file", &key, "--trusted-ca-file", &trusted, "--client-cert-auth"];
    let Some(member) = Member::only("https", &options, directory.path()) else { return };
    let etcd = |authority: Option<&Authority>, client: Option<&Authority>| {
        let access =
            Access { authority: authority.map(Authority::pem), certificate: client.map(Authority::issue), user: None };
        Etcd::new(Address::parse(&format!("etcd://{}", member.address())).unwrap(), access).unwrap()
    };
    let right = etcd(Some(&authority), Some(&authority));
    wait_for("etcd answers", || right.get("any").is_ok());
    assert!(matches!(put(&right, "a"), Ok(Committed::At(_))));
    // Neither without a certificate nor with somebody else's, and no member that somebody else vouches for.
    for (of_member, of_client) in
        [(Some(&authority), None), (Some(&authority), Some(&other)), (Some(&other), Some(&authority)), (None, None)]
    {
        let etcd = etcd(of_member, of_client);
        assert!(etcd.get("a").is_err() && put(&etcd, "b").is_err());
    }
    assert_eq!(right.get("b"), Ok(None));
}

#[test]
fn a_user_writes_below_its_own_keys_alone_and_is_signed_in_again() {
    let directory = tempfile::tempdir().unwrap();
    let Some(mut member) = Member::only("http", &[], directory.path()) else { return };
    let address = member.address().to_owned();
    let user = |name: &str, password: &str| {
        let access = Access { user: Some((name.into(), password.into())), ..Access::default() };
        Etcd::new(Address::parse(&format!("etcd://{address}")).unwrap(), access).unwrap()
    };
    let open = etcd(&address);
    member.wait_for_answer();
    let ask = |path: &str, body: Value| {
        let answer = ureq::post(format!("http://{address}/v3/auth/{path}")).send(body.to_string());
        assert!(answer.is_ok(), "{path}: {answer:?}");
    };
    for name in ["root", "agent"] {
        ask("user/add", json!({ "name": name, "password": format!("of {name}") }));
        ask("role/add", json!({ "name": name }));
        ask("user/grant", json!({ "user": name, "role": name }));
    }
    let own =
        json!({ "permType": "READWRITE", "key": coded("stend/machine-a/"), "range_end": coded("stend/machine-a0") });
    ask("role/grant", json!({ "name": "agent", "perm": own }));
    ask("enable", json!({}));
    let (root, agent) = (user("root", "of root"), user("agent", "of agent"));
    assert!(matches!(put(&agent, "machine-a/x"), Ok(Committed::At(_))));
    assert!(matches!(put(&root, "machine-b/x"), Ok(Committed::At(_))));
    let denied = |done: Result<(), Trouble>| {
        assert!(matches!(&done, Err(Trouble::Refused(said)) if said.contains("permission denied")), "{done:?}");
    };
    denied(put(&agent, "machine-b/y").map(drop));
    denied(put(&agent, "machine-ab/y").map(drop));
    denied(agent.get("machine-b/x").map(drop));
    denied(agent.list("").map(drop));
    let both = [Change::Put("machine-a/z".into(), "x".into()), Change::Put("machine-b/z".into(), "x".into())];
    denied(agent.commit(&[], &both).map(drop));
    assert_eq!(root.list("").unwrap().entries.len(), 2);
    for wrong in [user("agent", "of root"), user("nobody", "x")] {
        assert!(matches!(put(&wrong, "machine-a/y"), Err(Trouble::Refused(_))));
    }
    assert!(matches!(put(&open, "machine-a/y"), Err(Trouble::Refused(_))));
    // What etcd gave for the password ends with its process.
    member.kill();
    member.begin();
    wait_for("etcd answers", || agent.get("machine-a/x").is_ok_and(|entry| entry.is_some()));
    // A user that is out is out.
    let token: Value = {
        let body = json!({ "name": "root", "password": "of root" }).to_string();
        let answer = ureq::post(format!("http://{address}/v3/auth/authenticate")).send(body).unwrap();
        serde_json::from_reader(answer.into_body().into_reader()).unwrap()
    };
    let body = json!({ "name": "agent" }).to_string();
    let token = token["token"].as_str().unwrap();
    ureq::post(format!("http://{address}/v3/auth/user/delete")).header("authorization", token).send(body).unwrap();
    assert!(matches!(put(&agent, "machine-a/late"), Err(Trouble::Refused(_))));
}

#[test]
fn no_password_goes_to_another_machine_in_the_clear() {
    let access = Access { user: Some(("agent".into(), "secret".into())), ..Access::default() };
    for (address, is_fine) in [
        ("etcd://127.0.0.1", true),
        ("etcd://[::1]:2379,localhost", true),
        ("etcd://127.128.0.7:7000", true),
        ("etcd://localhost,lab-2", false),
        ("etcd://127.0.0.1.example", false),
    ] {
        let made = Etcd::new(Address::parse(address).unwrap(), access.clone());
        assert_eq!(made.is_ok(), is_fine, "{address}");
    }
    let access = Access { authority: Some(b"no PEM".to_vec()), ..Access::default() };
    assert!(Etcd::new(Address::parse("etcd://lab-2").unwrap(), access).is_err());
}

#[test]
fn what_is_no_address_is_refused() {
    for text in [
        "",
        "etcd:",
        "etcd://",
        "http://lab",
        "etcd://lab,,lab",
        "etcd://a@lab",
        "etcd://lab:x",
        "etcd://lab/a b",
        "etcd://lab/a/b",
        "etcd://lab?x",
    ] {
        assert!(Address::parse(text).is_err(), "{text}");
    }
    for text in ["etcd://lab", "etcd://lab-1:2379,lab-2:12379/other.lab", "etcd://[fd00::1]:2379"] {
        assert!(Address::parse(text).is_ok(), "{text}");
    }
}
