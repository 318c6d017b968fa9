//! `serve`: the workspace as web pages.

use std::net::{IpAddr, Ipv4Addr};

use super::args::{Global, Serve};
use super::exit::{Exit, Failure};
use super::output;
use crate::config::Overrides;
use crate::stages::Stop;
use crate::web::{self, Address, ServeError};

pub(super) fn serve_workspace(args: &Serve, global: &Global, stop: &Stop) -> Result<Exit, Failure> {
    if let Some(problem) = args.public.as_ref().and_then(reason_unfit) {
        return Err(Failure::usage(problem));
    }
    let config = output::load_config(global)?;
    let ip = args.bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let what = web::Serve {
        config,
        // Pages cannot ask the person at this machine.
        overrides: Overrides { ask: None, ..output::collect_overrides(global, &[]) },
        address: Address { ip, port: args.port, public: args.public.clone() },
    };
    let (quiet, json) = (global.quiet, global.json);
    let ready = |local: std::net::SocketAddr| {
        // A script that started the server can read the address from the first line.
        let address = format!("http://{local}/");
        let _ = match json {
            true => output::print_json(&serde_json::json!({ "address": address })),
            false => output::print_text(&format!("{address}\n")),
        };
        if !quiet {
            eprintln!("Ctrl-C stops it");
        }
    };
    web::serve_pages(what, stop, ready).map_err(|e| match e {
        ServeError::NoTokens(_) => Failure::usage(e.to_string()),
        e => Failure { exit: Exit::Io, message: e.to_string() },
    })?;
    Ok(Exit::Done)
}

/// An address as it was given, without name and password.
fn without_secrets(public: &url::Url) -> String {
    let mut shown = public.clone();
    // Both fail only where there is no host, and then there is neither.
    let _ = shown.set_username("").and_then(|()| shown.set_password(None));
    shown.to_string()
}

/// What is wrong with an address that people are to open: pages link each other from the root of their host.
fn reason_unfit(public: &url::Url) -> Option<String> {
    let more = match public {
        url if !matches!(url.scheme(), "http" | "https") => "another scheme than http or https",
        url if url.path() != "/" => "a path",
        url if url.query().is_some() || url.fragment().is_some() => "a query or a fragment",
        url if !url.username().is_empty() || url.password().is_some() => "a name or a password",
        _ => return None,
    };
    let hint = match public.scheme() {
        "http" | "https" => format!(
            "let the proxy serve a host of its own: --public {}",
            public.origin().ascii_serialization()
        ),
        _ => "give it as in --public https://review.example.org".to_owned(),
    };
    Some(format!(
        "--public {}: it has {more}, and the pages are at the root of their host\n  hint: {hint}",
        without_secrets(public)
    ))
}
