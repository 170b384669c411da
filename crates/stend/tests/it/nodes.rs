//! Nodes of a fleet.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::Stand;
use crate::common::etcd::Etcd;
use crate::serve::Server;

/// Makes a store that of a node.
pub(crate) fn join(store: &Path, etcd: &Etcd, name: &str, lease: &str) {
    std::fs::create_dir_all(store).unwrap();
    let text = format!("address = \"{}\"\nnode = \"{name}\"\nlease = \"{lease}\"\n", etcd.fleet());
    let path = store.join("fleet.toml");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

/// The same with a lease that is short, as long as machines are not slow.
pub(crate) fn join_quickly(store: &Path, etcd: &Etcd, name: &str) {
    join(store, etcd, name, &format!("{}s", stend_testing::patience().as_secs() / 60));
}

/// A node whose lease is short.
pub(crate) fn quick_node<'a>(stand: &'a Stand, etcd: &Etcd, name: &str) -> Server<'a> {
    join_quickly(&stand.store(), etcd, name);
    Server::strange(stand)
}

/// Two of them, `alpha` and `beta`, with one who has signed in to both.
pub(crate) fn two_nodes<'a>(one: &'a Stand, other: &'a Stand, etcd: &Etcd) -> (Server<'a>, Server<'a>) {
    let alpha = quick_node(one, etcd, "alpha").signed_in();
    let beta = quick_node(other, etcd, "beta").signed_in_with(&alpha);
    (alpha, beta)
}

/// The names of the files of runs in a node's archive.
pub(crate) fn archived(stand: &Stand) -> BTreeSet<String> {
    let files = std::fs::read_dir(stand.store().join("archive")).into_iter().flatten().flatten();
    let names = files.map(|file| file.file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".gz")).collect()
}
