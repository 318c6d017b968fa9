//! `serve`: the workspace as web pages.

use std::net::{IpAddr, Ipv4Addr};

use super::args::{Global, Serve};
use super::exit::{Exit, Failure};
use super::output;
use crate::config::Overrides;
use crate::stages::Stop;
use crate::web::{self, Address, ServeError};

pub(super) fn serve(args: &Serve, global: &Global, stop: &Stop) -> Result<Exit, Failure> {
    let config = output::load(global)?;
    let ip = args.bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let what = web::Serve {
        config,
        // Pages cannot ask the person at this machine.
        overrides: Overrides { ask: None, ..output::overrides(global, &[]) },
        address: Address { ip, port: args.port, public: args.public.clone() },
    };
    let quiet = global.quiet;
    let ready = |local: std::net::SocketAddr| {
        // A script that started the server can read the address from the first line.
        let _ = output::print(&format!("http://{local}/\n"));
        if !quiet {
            eprintln!("Ctrl-C stops it");
        }
    };
    web::serve(what, stop, ready).map_err(|e| match e {
        ServeError::NoTokens(_) => Failure::usage(e.to_string()),
        e => Failure { exit: Exit::Io, message: e.to_string() },
    })?;
    Ok(Exit::Done)
}
