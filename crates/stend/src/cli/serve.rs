//! `stend serve`: the console and the API of this lab.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use stend_server::{Certificate, Ready, Served, ServerError};

use super::Global;
use super::failure::{Exit, Failure};
use super::output;

#[derive(Debug, Args)]
#[command(after_help = "docs/guide/server.md describes the pages and the API")]
pub(super) struct Arguments {
    /// Where to listen, an address of this machine with a port; port 0 is any free one. Beyond this machine it requires users (`stend users`) and serves TLS
    #[arg(long, value_name = "ADDRESS", default_value_t = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7836))]
    listen: SocketAddr,
    /// Join the fleet that agrees in the etcd at this address, etcd://HOST:PORT,HOST:PORT. It is kept in fleet.toml beside the store, and need not be given
    /// again (docs/guide/fleet.md)
    #[arg(long, value_name = "ADDRESS")]
    fleet: Option<String>,
    /// What this machine is called in the fleet [default: its host name]
    #[arg(long, value_name = "NAME", requires = "fleet")]
    node: Option<String>,
    /// Serve TLS with this certificate, PEM, followed by those of its authorities [default: beyond this machine, one that is made and kept beside the store]
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// The certificate's private key, PEM
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let listen = arguments.listen;
    let store = global.store_directory()?;
    stend_store::make_directory(&store)?;
    let program =
        std::env::current_exe().map_err(|error| Failure::unusable(format!("stend does not find itself: {error}")))?;
    let quiet = global.quiet;
    let certificate = arguments.certificate.clone().zip(arguments.key.clone());
    let certificate = certificate.map(|(certificate, key)| Certificate { certificate, key });
    let fleet = arguments.fleet.clone().map(|address| (address, arguments.node.clone()));
    let ready = |ready: Ready| {
        let Ready { url, has_token, own_certificate } = ready;
        // Whoever starts it for another program has the address and the token from the first line.
        let _ = output::print(&format!("{url}\n"));
        if !quiet {
            if let Some((file, fingerprint)) = own_certificate {
                talk!("the certificate {} was made here; its SHA-256 is {fingerprint}", file.display());
            }
            let in_by = if has_token { "the token signs one browser in" } else { "users sign in by name and password" };
            talk!("{in_by}; Ctrl-C ends the server, and runs that are being measured go on");
        }
    };
    stend_server::serve(Served { store, program, listen, fleet, certificate }, ready).map_err(failure)?;
    Ok(Exit::Fine)
}

/// What was refused is a matter of what was asked.
pub(super) fn failure(error: ServerError) -> Failure {
    match error {
        ServerError::Refused(_) | ServerError::Missing(_) => Failure::usage(error),
        _ => Failure::unusable(error),
    }
}
