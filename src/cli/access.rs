//! `access`: tokens for the pages of `serve`.

use serde::Serialize;

use super::args::{AccessVerb, Global, RankArg};
use super::exit::{Exit, Failure};
use super::output;
use crate::config::Config;
use crate::pipeline::current_time;
use crate::store::Workspace;
use crate::web::access::{Access, Rank};
use crate::web::sessions::Sessions;

/// Who may see the pages; what lets them in is told once.
#[derive(Serialize)]
struct Granted<'g> {
    name: &'g str,
    rank: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'g str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'g str>,
}

impl<'g> Granted<'g> {
    fn new(name: &'g str, rank: Rank) -> Granted<'g> {
        Granted { name, rank: rank.name(), path: None, token: None }
    }
}

/// The rank for somebody, if the name fits it.
fn known_rank(config: &Config, name: &str, rank: RankArg) -> Result<Rank, Failure> {
    let rank = match rank {
        RankArg::Annotator => Rank::Annotator,
        RankArg::Reader => Rank::Reader,
        RankArg::Curator => Rank::Curator,
    };
    // Votes are stored under this name, so it has to be an annotator's.
    if rank == Rank::Annotator && !config.annotators.iter().any(|person| person.name == *name) {
        return Err(Failure::usage(output::unknown_annotator(config, name)));
    }
    Ok(rank)
}

pub(super) fn run_access_verb(verb: &AccessVerb, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    let access = Access::in_workspace(&Workspace::new(&config.root));
    match verb {
        AccessVerb::Invite { name, rank } => {
            let rank = known_rank(&config, name, *rank)?;
            let path = format!("/join/{}", access.make_invite(name, rank, &current_time())?);
            match global.json {
                true => output::print_json(&Granted { path: Some(&path), ..Granted::new(name, rank) })?,
                false => output::print_text(&format!("{path}\n"))?,
            }
            Ok(Exit::Done)
        }
        AccessVerb::Grant { name, rank } => {
            let rank = known_rank(&config, name, *rank)?;
            let token = access.make_grant(name, rank, &current_time())?;
            match global.json {
                true => output::print_json(&Granted { token: Some(&token), ..Granted::new(name, rank) })?,
                false => output::print_text(&format!("{token}\n"))?,
            }
            if !global.quiet && !global.json {
                eprintln!("this is the token of {name} ({}); it is not shown again", rank.name());
            }
            Ok(Exit::Done)
        }
        AccessVerb::Revoke { name, sessions: true } => {
            Sessions::in_workspace(&Workspace::new(&config.root)).end_sessions(name)?;
            Ok(Exit::Done)
        }
        AccessVerb::Open => {
            access.open_without_token(&current_time())?;
            if !global.quiet {
                eprintln!("everybody on this machine can open all pages until a token is granted");
            }
            Ok(Exit::Done)
        }
        AccessVerb::Revoke { name, .. } => match access.revoke_access(name, &current_time())? {
            true => Ok(Exit::Done),
            false => Err(Failure {
                exit: Exit::Gap,
                message: format!("{name} has no token\n  hint: `riddlemill access list` shows who has one"),
            }),
        },
        AccessVerb::List => {
            let grants = access.list_grants()?;
            let rows: Vec<_> = grants.iter().map(|g| Granted::new(&g.name, g.rank)).collect();
            let lines: String =
                grants.iter().map(|g| format!("{:<20} {}\n", g.name, g.rank.name())).collect();
            match global.json {
                true => output::print_json(&rows)?,
                false => output::print_text(&lines)?,
            }
            Ok(Exit::Done)
        }
    }
}
