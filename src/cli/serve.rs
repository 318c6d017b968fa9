//! `serve`: the workspace as pages.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args;

use super::args::Global;
use super::exit::{Exit, Failure};
use super::output;
use crate::config::Overrides;
use crate::stages::Stop;
use crate::web::{self, Address, ServeError};

pub(super) const HELP: &str = "\
On the loopback and without a granted token, whoever is on this machine may open everything. Once
`riddlemill access grant` has given a token, every page asks for one, until `access open`. Other machines reach the pages
with --bind, which wants a token first; put a proxy with TLS in front and name it with --public.
  riddlemill serve
  riddlemill access grant annotator-1 --rank annotator
  riddlemill serve --bind 0.0.0.0 --public https://review.example.org";

#[derive(Args)]
pub(super) struct Serve {
    /// The port; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 8484)]
    pub port: u16,
    /// Listen on this address instead of the loopback; needs a token granted with `access grant`
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<std::net::IpAddr>,
    /// The address people open where a proxy stands in front, as in https://review.example.org
    #[arg(long, value_name = "URL")]
    pub public: Option<url::Url>,
}

pub(super) fn serve(args: &Serve, global: &Global, stop: &Stop) -> Result<Exit, Failure> {
    let config = output::load(global)?;
    let ip = args.bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let what = web::Serve {
        config,
        overrides: Overrides::new(global.set.clone()),
        address: Address { ip, port: args.port, public: args.public.clone() },
    };
    let quiet = global.quiet;
    let ready = |local: std::net::SocketAddr| {
        // A script that started the server reads the address from the first line.
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
