//! Why a record waits, failed, or went on without something, as fields. The evidence in a ledger says the same in words,
//! for people; whoever decides what to do about it reads these.

use serde::{Deserialize, Serialize};

/// Why a record waits, failed, or went on without something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Cause {
    /// No endpoint is named that could be asked.
    NoEndpoint,
    /// The run does not send anything.
    Offline {
        /// The endpoint that would be asked.
        endpoint: String,
    },
    /// The endpoint has neither prices nor `free = true`.
    NoPrice {
        /// Its name.
        endpoint: String,
    },
    /// The variable of a key or of a header is not set.
    NoKey {
        /// The endpoint that needs it.
        endpoint: String,
        /// The environment variable whose value is missing.
        variable: String,
    },
    /// Nobody on this machine agreed to what the endpoint would do.
    NoConsent {
        /// Its name.
        endpoint: String,
        /// What it would do.
        wish: String,
        /// The command that agrees.
        command: String,
    },
    /// A pack of replies has none to this.
    NotInPack {
        /// Whether its replies were made elsewhere, and are not those of the sample.
        made: bool,
    },
    /// Another process asks the same just now.
    AskedElsewhere,
    /// It is in a batch.
    InBatch {
        /// The endpoint of the batch.
        endpoint: String,
        /// How the batch stands.
        stands: BatchStands,
        /// The same in words.
        said: String,
    },
    /// The run was interrupted before it was asked.
    Interrupted,
    /// The next request might exceed a cap.
    Budget {
        /// Whose cap.
        scope: Scope,
        /// What is spent of it.
        spent: String,
        /// The dollars that may be spent of it.
        cap: String,
    },
    /// The answer reached its limit.
    Cut {
        /// Who answered.
        endpoint: String,
        /// The limit.
        tokens: u64,
        /// Whether it would be asked again, with a larger limit, if the run were not offline.
        offline: bool,
    },
    /// A request failed, or was refused.
    Request(Request),
    /// The replies that are stored cannot be read or written.
    Store {
        /// What is wrong with them.
        said: String,
    },
    /// A reply does not say what was asked for.
    Unreadable {
        /// What is wrong with it.
        said: String,
    },
    /// Votes are missing.
    Votes {
        /// Whether they are those of the second round, the review.
        review: bool,
        /// How many.
        votes: u64,
        /// The roles that may vote.
        roles: Vec<String>,
    },
    /// A decision over the votes is missing.
    Decision {
        /// The role that decides.
        role: String,
    },
    /// It waits with the record that it belongs to, and is no item of its own.
    Beside,
    /// A record, a page or a whole file of a dump was not read.
    Unread {
        /// The source's name in the settings.
        source: String,
        /// The file, with its source.
        file: String,
        /// Whether the whole file or source is meant.
        whole: bool,
        /// What is wrong.
        said: String,
        /// What to do, where that is known.
        hint: Option<String>,
    },
    /// It went on without what was asked for.
    Without {
        /// The code of the reason.
        reason: String,
        /// What is wrong.
        said: String,
        /// The same as fields.
        why: Option<Box<Cause>>,
    },
}

/// How a batch stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum BatchStands {
    /// It is being answered.
    Open,
    /// It ended, and the answer was cut.
    Cut,
    /// It ended without an answer to this.
    Ended,
    /// The server no longer has it.
    Lost {
        /// The command that counts it as spent.
        command: String,
    },
}

/// Whose cap is reached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "of", content = "name", rename_all = "snake_case")]
pub enum Scope {
    /// That of an endpoint.
    Endpoint(String),
    /// That of a recipe.
    Recipe(String),
    /// That of the run.
    Run,
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Request {
    /// The endpoint that was asked.
    pub endpoint: String,
    /// What happened.
    pub fault: RequestFault,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The whole in words, without the number of the attempt.
    pub said: String,
    /// The server's message.
    pub server: Option<String>,
    /// The model that the server has, if one is called nearly like the one asked for.
    pub near: Option<String>,
    /// Where a redirect points.
    pub to: Option<String>,
    /// Whether the address that was asked has a version of the interface in it, which a setting names.
    pub versioned: bool,
}

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestFault {
    /// No connection was established.
    NoConnection,
    /// The command that prints the key failed.
    KeyCommand,
    /// No answer in time.
    Timeout,
    /// The connection ended before the answer did.
    ConnectionCut,
    /// An answer with an error status.
    Status,
    /// The account has no money or quota left.
    Quota,
    /// The answer is no JSON.
    NotJson,
    /// The answer is not one of the interface.
    Garbage,
    /// An empty answer, or one that is all reasoning.
    Empty,
    /// The model or a filter refused the text.
    Text,
    /// The answer is too long.
    TooLarge,
    /// A batch ended without an answer.
    NotAnswered,
}

impl Cause {
    /// The same without what differs between records that one thing keeps back.
    pub fn shared_part(&self) -> Cause {
        match self {
            Cause::InBatch { endpoint, stands, .. } => {
                Cause::InBatch { endpoint: endpoint.clone(), stands: stands.clone(), said: String::new() }
            }
            Cause::Budget { scope, .. } => {
                Cause::Budget { scope: scope.clone(), spent: String::new(), cap: String::new() }
            }
            Cause::Cut { endpoint, offline, .. } => {
                Cause::Cut { endpoint: endpoint.clone(), tokens: 0, offline: *offline }
            }
            Cause::Request(request) => {
                Cause::Request(Request { said: String::new(), server: None, ..request.clone() })
            }
            Cause::Unreadable { .. } => Cause::Unreadable { said: String::new() },
            Cause::Votes { review, .. } => Cause::Votes { review: *review, votes: 0, roles: Vec::new() },
            // Records that different things mend are kept back by different things.
            Cause::Unread { source, whole: false, hint, .. } => Cause::Unread {
                source: source.clone(),
                file: String::new(),
                whole: false,
                said: String::new(),
                hint: hint.clone(),
            },
            // Requests that were not sent because others failed are kept back by the same thing.
            Cause::Without { why: Some(why), .. } if matches!(**why, Cause::Request(_)) => Cause::Without {
                reason: String::new(),
                said: String::new(),
                why: Some(Box::new(why.shared_part())),
            },
            Cause::Without { reason, why, .. } => Cause::Without {
                reason: reason.clone(),
                said: String::new(),
                why: why.as_ref().map(|why| Box::new(why.shared_part())),
            },
            other => other.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(said: &str) -> Cause {
        Cause::Request(Request {
            endpoint: "mine".into(),
            fault: RequestFault::Status,
            status: Some(429),
            said: said.into(),
            server: Some(said.into()),
            near: None,
            to: None,
            versioned: false,
        })
    }

    #[test]
    fn causes_are_read_as_they_were_written() {
        let causes = [
            Cause::NoEndpoint,
            Cause::Budget { scope: Scope::Run, spent: "$1".into(), cap: "$2".into() },
            Cause::Budget { scope: Scope::Endpoint("mine".into()), spent: "$1".into(), cap: "$2".into() },
            Cause::InBatch {
                endpoint: "mine".into(),
                stands: BatchStands::Lost { command: "riddlemill replies cancel 1 --lost".into() },
                said: "in a batch".into(),
            },
            request("429 from mine"),
            Cause::Without {
                reason: "key_missing".into(),
                said: "x".into(),
                why: Some(Box::new(request("y"))),
            },
        ];
        for cause in causes {
            let json = serde_json::to_string(&cause).unwrap();
            assert_eq!(serde_json::from_str::<Cause>(&json).unwrap(), cause, "{json}");
        }
    }

    #[test]
    fn one_thing_is_one_cause_whatever_the_server_says_of_each_record() {
        assert_ne!(request("one"), request("two"));
        assert_eq!(request("one").shared_part(), request("two").shared_part());
        let without = |why: &str| Cause::Without {
            reason: "request_failed".into(),
            said: why.into(),
            why: Some(Box::new(request(why))),
        };
        assert_eq!(without("one").shared_part(), without("two").shared_part());
        let cut = |endpoint: &str| Cause::Cut { endpoint: endpoint.into(), tokens: 9, offline: false };
        assert_ne!(cut("a").shared_part(), cut("b").shared_part());
    }
}
