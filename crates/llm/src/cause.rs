//! What happened to a request, as fields: what to do about it is decided by these and not by the words beside them.

use riddlemill_record::{Cause, Evidence, Reason, Request, RequestFault, Scope};

use super::answer::{Answer, Failed, Held};
use super::fault::{self, Fault, Kind, NoAnswer};
use super::money::Usd;
use super::request::Key;
use super::retry;
use super::store::Failure;

/// What a server is asked for after a refusal: what its list of models or its addresses show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hint {
    /// The same in words, behind the description of the fault.
    pub said: String,
    /// The model that is nearly called like the one asked for.
    pub near: Option<String>,
    /// Whether a setting names the version in the address that was asked.
    pub versioned: bool,
}

/// A fault with what is known beyond it. `error` is the text, `said` the same without what differs between attempts.
pub(super) fn of_fault(endpoint: &str, fault: &Fault, hint: &Hint, said: String, error: String) -> Evidence {
    let request = Request {
        endpoint: endpoint.to_owned(),
        fault: if fault::refuses_text(&fault.kind, &fault.raw) {
            RequestFault::Text
        } else {
            fault_of(&fault.kind)
        },
        status: fault.http_status(),
        said,
        server: fault.refusal_message(),
        near: hint.near.clone(),
        to: fault.location.clone(),
        versioned: hint.versioned,
    };
    Evidence::with_cause(error, Cause::Request(request))
}

/// A failure that a log holds, of which it keeps the words, the status and the server's answer.
pub(super) fn remembered_failure(endpoint: &str, error: String, status: Option<u16>, raw: &str) -> Evidence {
    let fault = match (status, fault::no_answer(&error)) {
        (Some(status), _) => {
            let kind = retry::parse_refusal(status, raw).kind;
            if fault::refuses_text(&kind, raw) { RequestFault::Text } else { fault_of(&kind) }
        }
        (None, Some(NoAnswer::Refused)) => RequestFault::Text,
        (None, Some(NoAnswer::Unread)) => RequestFault::Empty,
        (None, None) => RequestFault::NotAnswered,
    };
    let server = status.and_then(|_| fault::error_message(raw));
    let request = Request {
        endpoint: endpoint.to_owned(),
        fault,
        status,
        said: error.clone(),
        server,
        near: None,
        to: None,
        versioned: false,
    };
    Evidence::with_cause(error, Cause::Request(request))
}

fn fault_of(kind: &Kind) -> RequestFault {
    match kind {
        Kind::Connect(_) => RequestFault::NoConnection,
        Kind::NoKey(_) => RequestFault::KeyCommand,
        Kind::Timeout => RequestFault::Timeout,
        Kind::Cut(_) => RequestFault::ConnectionCut,
        Kind::Status(_) => RequestFault::Status,
        Kind::QuotaExhausted(_) => RequestFault::Quota,
        Kind::NotJson(_) => RequestFault::NotJson,
        Kind::Garbage(_) => RequestFault::Garbage,
        Kind::Empty | Kind::OnlyReasoning => RequestFault::Empty,
        Kind::Blocked | Kind::Refused(_) => RequestFault::Text,
        Kind::TooLarge(_) => RequestFault::TooLarge,
    }
}

/// Whose cap a scope of the journal is.
pub(super) fn parse_scope(name: &str) -> Scope {
    match name.split_once(':') {
        Some(("endpoint", name)) => Scope::Endpoint(name.to_owned()),
        Some(("recipe", name)) => Scope::Recipe(name.to_owned()),
        _ => Scope::Run,
    }
}

/// Why a reply cannot be read.
pub(super) fn unreadable_reply(why: String) -> Evidence {
    Evidence::with_cause(why.clone(), Cause::Unreadable { said: why })
}

/// What is not sent by a run that is offline.
pub(super) fn held_offline(endpoint: String) -> Held {
    let what = Evidence::with_cause("the run is offline", Cause::Offline { endpoint });
    Held { reason: Reason::ReplyMissing, what }
}

/// The answer for a remembered failure.
pub(super) fn refused_answer(endpoint: &str, failure: Failure) -> Answer {
    let Failure { key, error, status, raw, .. } = failure;
    let error = remembered_failure(endpoint, error, status, &raw);
    Answer::Failed(Failed { reason: Reason::RequestRefused, error, raw, key })
}

/// The answer where the next request could exceed a cap.
pub(super) fn budget_reached(scope: &str, spent: Usd, cap: Usd, reserved: Usd) -> Answer {
    let what = format!("{scope}: {spent} of {cap} spent, the next request could cost {reserved}");
    let scope = self::parse_scope(scope);
    let cause = Cause::Budget { scope, spent: spent.to_string(), cap: cap.to_string() };
    Answer::Held(Held { reason: Reason::BudgetReached, what: Evidence::with_cause(what, cause) })
}

pub(super) fn store_failed(key: Key, error: &str) -> Answer {
    let said = format!("the reply store failed: {error}");
    let error = Evidence::with_cause(said.clone(), Cause::Store { said });
    Answer::Failed(Failed { reason: Reason::RequestFailed, error, raw: String::new(), key })
}

/// The answer of an endpoint that is left alone.
pub(super) fn left_alone_answer(evidence: &Evidence) -> Answer {
    Answer::Held(Held { reason: Reason::EndpointLeft, what: evidence.clone() })
}

/// The answer of a run that was interrupted.
pub(super) fn interrupted_answer() -> Answer {
    let what = Evidence::with_cause("run again to continue", Cause::Interrupted);
    Answer::Held(Held { reason: Reason::Interrupted, what })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(evidence: &Evidence) -> &Request {
        let Some(Cause::Request(request)) = evidence.cause() else { panic!("{evidence:?}") };
        request
    }

    #[test]
    fn a_failure_in_the_log_says_as_much_as_when_it_happened() {
        for kind in [Kind::Status(400), Kind::Status(413), Kind::Empty, Kind::OnlyReasoning, Kind::Blocked] {
            let raw = match kind {
                Kind::Status(_) => r#"{"error": {"message": "no"}}"#,
                _ => "",
            };
            let fault = Fault { raw: raw.into(), ..Fault::new(kind) };
            let said = fault.describe_for_ledger("mine");
            let now = of_fault("mine", &fault, &Hint::default(), said.clone(), said.clone());
            let then = remembered_failure("mine", said, fault.http_status(), raw);
            assert_eq!(request(&now), request(&then));
        }
        let refused = remembered_failure(
            "mine",
            "400 from mine (no)".into(),
            Some(400),
            r#"{"error": {"message": "no"}}"#,
        );
        assert_eq!(request(&refused).server.as_deref(), Some("no"));
    }

    #[test]
    fn an_endpoint_is_a_field_whatever_it_is_called() {
        let fault = Fault::new(Kind::Connect("connection refused".into()));
        let said = fault.describe_for_ledger("mine");
        let evidence = of_fault("mine", &fault, &Hint::default(), said.clone(), said);
        assert_eq!(request(&evidence).endpoint, "mine");
        assert_eq!(request(&evidence).fault, RequestFault::NoConnection);
        assert_eq!(parse_scope("endpoint:connection"), Scope::Endpoint("connection".into()));
        assert_eq!(
            (parse_scope("recipe:flub"), parse_scope("run:1-2-3")),
            (Scope::Recipe("flub".into()), Scope::Run)
        );
    }
}
