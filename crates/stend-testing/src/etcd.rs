//! Members of etcd.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::{have, own_address, wait_for};

/// Where a member is.
#[derive(Debug, Clone)]
pub struct Place {
    /// Where it listens to clients: `HOST:PORT`.
    pub clients: String,
    /// And to the other members.
    pub peers: String,
    /// Its data directory.
    pub data: PathBuf,
    /// What comes before `etcd` on its command line, such as `nsenter` with its words.
    pub before: Vec<String>,
}

impl Place {
    /// On loopback, with the data below a directory.
    pub fn here(directory: &Path) -> Self {
        Self { clients: own_address(), peers: own_address(), data: directory.join("data"), before: Vec::new() }
    }
}

/// A member, which may be away. It ends with this value.
#[derive(Debug)]
pub struct Member {
    place: Place,
    words: Vec<String>,
    child: Option<Child>,
    /// What it says.
    said: File,
    directory: Option<TempDir>,
}

impl Member {
    /// The only one of its cluster, which answers. It gives nothing to its disk by itself. Nothing where there is no etcd.
    pub fn start() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mut member = Self::only("http", &["--unsafe-no-fsync"], directory.path())?;
        member.directory = Some(directory);
        member.wait_for_answer();
        Some(member)
    }

    /// The only one of its cluster, with further options and its data below a directory. Nothing where there is no etcd.
    pub fn only(scheme: &str, options: &[&str], directory: &Path) -> Option<Self> {
        let mut member = Self::all(scheme, vec![Place::here(directory)], options)?.pop()?;
        member.begin();
        Some(member)
    }

    /// Those of one cluster, with further options. None has begun. Nothing where there is no etcd.
    pub fn all(scheme: &str, places: Vec<Place>, options: &[&str]) -> Option<Vec<Self>> {
        if !have("etcd") {
            return None;
        }
        let name = |(at, place): (usize, &Place)| format!("m{at}=http://{}", place.peers);
        let cluster = places.iter().enumerate().map(name).collect::<Vec<_>>().join(",");
        let member = |(at, place): (usize, Place)| {
            let (name, clients, peers) =
                (format!("m{at}"), format!("{scheme}://{}", place.clients), format!("http://{}", place.peers));
            let words = [
                &["--name", &name, "--data-dir", place.data.to_str().unwrap(), "--log-level", "error"][..],
                &["--listen-client-urls", &clients, "--advertise-client-urls", &clients],
                &["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers],
                &["--initial-cluster", &cluster],
                options,
            ];
            let etcd = place.before.iter().map(String::as_str).chain(["etcd"]);
            let words = etcd.chain(words.concat()).map(str::to_owned).collect();
            Self { place, words, child: None, said: tempfile::tempfile().unwrap(), directory: None }
        };
        Some(places.into_iter().enumerate().map(member).collect())
    }

    /// Where it listens to clients: `HOST:PORT`.
    pub fn address(&self) -> &str {
        &self.place.clients
    }

    /// Starts it, with what it has on its disk.
    pub fn begin(&mut self) {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).stdin(Stdio::null()).stdout(Stdio::null());
        self.said.set_len(0).unwrap();
        self.said.rewind().unwrap();
        command.stderr(self.said.try_clone().unwrap());
        self.child = Some(command.spawn().unwrap());
    }

    /// Kills it, if it is there.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// The number of its process, if it was not killed.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// How it ended, if it did by itself.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.as_mut()?.try_wait().unwrap()
    }

    /// The end of what it has said since it began.
    pub fn last_words(&mut self) -> String {
        let mut said = String::new();
        self.said.rewind().unwrap();
        self.said.read_to_string(&mut said).unwrap();
        let lines: Vec<&str> = said.lines().rev().take(5).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    /// Sends it a signal, such as `STOP`, if it is there.
    pub fn signal(&mut self, signal: &str) {
        if self.ended().is_none()
            && let Some(pid) = self.pid()
        {
            let done = Command::new("kill").args(["-s", signal, &pid.to_string()]).status().unwrap();
            assert!(done.success());
        }
    }

    /// Whether it has a leader, and answers this process without encryption.
    pub fn answers(&self) -> bool {
        health(&self.place.clients).is_ok_and(|answer| answer.contains("\"health\":\"true\""))
    }

    /// Waits until it answers.
    pub fn wait_for_answer(&mut self) {
        wait_for("etcd answers", || {
            if let Some(status) = self.ended() {
                panic!("etcd has ended, {status}: {}", self.last_words());
            }
            self.answers()
        });
    }
}

fn health(address: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    write!(stream, "GET /health HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

impl Drop for Member {
    fn drop(&mut self) {
        self.kill();
    }
}
