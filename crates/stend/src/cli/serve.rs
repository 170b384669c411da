//! `stend serve`: the console and the API of this lab.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::Args;
use stend_server::Served;

use super::Global;
use super::failure::{Exit, Failure};
use super::output;

#[derive(Debug, Args)]
#[command(after_help = "docs/guide/server.md describes the pages and the API")]
pub(super) struct Arguments {
    /// Where to listen, an address of this machine with a port; port 0 is any free one. To reach it from another machine, forward the port over ssh
    #[arg(long, value_name = "ADDRESS", default_value_t = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7836))]
    listen: SocketAddr,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let listen = arguments.listen;
    if !listen.ip().is_loopback() {
        return Err(Failure::usage(format!(
            "--listen {listen}: it listens on this machine alone, as on 127.0.0.1; from another one use ssh -L {port}:127.0.0.1:{port}",
            port = listen.port()
        )));
    }
    let store = global.store_directory()?;
    stend_store::make_directory(&store)?;
    let program =
        std::env::current_exe().map_err(|error| Failure::unusable(format!("stend does not find itself: {error}")))?;
    let quiet = global.quiet;
    let ready = |address, token: &str| {
        // Whoever starts it for another program has the address and the token from the first line.
        let _ = output::print(&format!("http://{address}/sign-in?token={token}\n"));
        if !quiet {
            talk!("the token signs one browser in; Ctrl-C ends the server, and runs that are being measured go on");
        }
    };
    stend_server::serve(Served { store, program, listen }, ready).map_err(Failure::unusable)?;
    Ok(Exit::Fine)
}
