//! The arguments of `serve` and `access`.

use clap::{Args, Subcommand, ValueEnum};

pub(crate) const HELP: &str = "\
On the loopback and without a granted token, everybody on this machine can open all pages. Once
`riddlemill access grant` has created a token, every page asks for one, until `access open`. To serve other machines use
--bind, which requires a token; put a proxy with TLS in front and give its address with --public.
  riddlemill serve
  riddlemill access grant annotator-1 --rank annotator
  riddlemill serve --bind 0.0.0.0 --public https://review.example.org";

#[derive(Args)]
pub(crate) struct Serve {
    /// The port; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 8484)]
    pub port: u16,
    /// Listen on this address instead of the loopback; needs a token granted with `access grant`
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<std::net::IpAddr>,
    /// The address people open, if a proxy is in front, as in https://review.example.org: a host of its own, without a path
    #[arg(long, value_name = "URL")]
    pub public: Option<url::Url>,
}

#[derive(Subcommand)]
pub(crate) enum AccessVerb {
    /// Create a token for somebody, replacing an earlier one; it is printed once and stored as a hash
    Grant {
        /// The person; for an annotator, the name in pipeline.toml
        #[arg(value_name = "NAME")]
        name: String,
        /// Which pages it opens
        #[arg(long, value_enum)]
        rank: RankArg,
    },
    /// Invite somebody with a link that works once, within a week; append what is printed to the server's address
    Invite {
        /// The person; for an annotator, the name in pipeline.toml
        #[arg(value_name = "NAME")]
        name: String,
        /// Which pages it opens
        #[arg(long, value_enum)]
        rank: RankArg,
    },
    /// Revoke somebody's token and end their sessions
    Revoke {
        /// The person
        #[arg(value_name = "NAME")]
        name: String,
        /// Only end the sessions; the token can open new ones
        #[arg(long)]
        sessions: bool,
    },
    /// Revoke all tokens, and let everybody on this machine in without one again
    Open,
    /// List who has a token
    List,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum RankArg {
    /// Only the review pages
    Annotator,
    /// The audit pages
    Reader,
    /// All pages
    Curator,
}
