//! Texts embedded in one request: splits the answer, so that each vector is stored under its own key.

use serde_json::{Value, json};

use super::fault::{Fault, Kind};
use super::http::Received;
use super::request::Request;
use super::settings::ReplyMarks;
use super::wire::{self, Content, WireError};
use super::{provider, retry, tokens};

/// Reads an answer to questions that were sent together: for each its content, and the response that it alone
/// would have had, to be stored under its own key.
pub(super) fn split_embeddings(
    requests: &[&Request],
    received: Received,
    marks: &ReplyMarks,
) -> Result<Vec<(Content, String)>, Fault> {
    if let [request] = requests {
        let content = wire::parse_received(request, &received, marks)?;
        return Ok(vec![(content, received.body)]);
    }
    if !(200..300).contains(&received.status) {
        // A refusal reads the same for one and for many, and never as content.
        wire::parse_received(requests[0], &received, marks)?;
    }
    let raws = split_answer(requests, &received.body).map_err(|why| Fault {
        raw: wire::shorten_body(&received.body),
        asked_wait: received.asked_wait,
        ..Fault::new(retry::kind_of_wrapped_error(&received.body, Kind::Garbage(why.to_string())))
    })?;
    let read = |(request, raw): (&&Request, String)| {
        let content = wire::parse_content(request, &raw, marks).map_err(|why| Fault {
            raw: wire::shorten_body(&raw),
            ..Fault::new(Kind::Garbage(why.to_string()))
        })?;
        Ok((content, raw))
    };
    requests.iter().zip(raws).map(read).collect()
}

/// The response to each of several texts: its vector, and its share of the tokens by the embedded
/// vocabulary's count.
fn split_answer(requests: &[&Request], body: &str) -> Result<Vec<String>, WireError> {
    let mut body: Value = serde_json::from_str(body)?;
    if body.get("data").is_none() {
        body = provider::as_openai(&body.to_string()).unwrap_or(body);
    }
    let data = body.get("data").and_then(Value::as_array).ok_or(WireError::Nothing("data"))?;
    if data.len() != requests.len() {
        return Err(WireError::Vectors { vectors: data.len(), texts: requests.len() });
    }
    let mut ordered: Vec<Option<&Value>> = vec![None; requests.len()];
    for (at, one) in data.iter().enumerate() {
        // Servers that leave out the index answer in the order of the texts.
        let index = one.get("index").and_then(Value::as_u64).map_or(at, |index| index as usize);
        match ordered.get_mut(index) {
            Some(place @ None) => *place = Some(one),
            _ => return Err(WireError::VectorNumber(index)),
        }
    }
    let counts: Vec<u64> = requests.iter().map(|request| tokens::count_request(request)).collect();
    let total = body.get("usage").and_then(|usage| usage.get("prompt_tokens")).and_then(Value::as_u64);
    let shares = total.map(|total| split_total(total, &counts));
    let raw = |(at, one): (usize, Option<&Value>)| {
        let mut raw = json!({"object": "list", "data": [one], "model": body.get("model")});
        if let Some(shares) = &shares {
            raw["usage"] = json!({"prompt_tokens": shares[at], "total_tokens": shares[at]});
        }
        raw.to_string()
    };
    Ok(ordered.into_iter().enumerate().map(raw).collect())
}

/// Splits a total by weights, so that the parts add up to it.
fn split_total(total: u64, weights: &[u64]) -> Vec<u64> {
    let all = weights.iter().sum::<u64>().max(1);
    let mut given = 0;
    let mut until = 0;
    let share = |weight: &u64| {
        until += weight;
        // The product of two counts may need more than 64 bits.
        let end = (u128::from(total) * u128::from(until) / u128::from(all)) as u64;
        std::mem::replace(&mut given, end).abs_diff(end)
    };
    weights.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::request::Input;
    use crate::settings::Endpoint;

    fn received(status: u16, body: impl ToString) -> Received {
        Received { status, body: body.to_string(), ..Received::default() }
    }

    fn embed(text: &str) -> Request {
        let input = Input::Embedding { text: text.into(), dimensions: None };
        Request { identity: "i".into(), model: "m".into(), input, sample: 0 }
    }

    #[test]
    fn vectors_of_one_answer_go_to_their_texts() {
        let (a, b) = (embed("a long text of some words"), embed("b"));
        let sent: Value =
            serde_json::from_str(&provider::call(&Endpoint::new("e", "", "m"), &[&a, &b]).body).unwrap();
        assert_eq!(sent["input"], json!(["a long text of some words", "b"]));
        let body = json!({"model": "m", "data": [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}],
            "usage": {"prompt_tokens": 9, "total_tokens": 9}});
        let contents = split_embeddings(&[&a, &b], received(200, body), &ReplyMarks::default()).unwrap();
        let vectors: Vec<_> = contents.iter().map(|(content, _)| content.vector.clone().unwrap()).collect();
        assert_eq!(vectors, [[1.0], [2.0]]);
        let used: Vec<u64> =
            contents.iter().map(|(content, _)| content.usage.unwrap().prompt_tokens).collect();
        assert!(used[0] > used[1] && used.iter().sum::<u64>() == 9, "{used:?}");
        // The stored response is read again like an answer to one text.
        for (request, (content, raw)) in [&a, &b].into_iter().zip(&contents) {
            assert_eq!(&wire::parse_content(request, raw, &ReplyMarks::default()).unwrap(), content);
        }
    }

    #[test]
    fn vectors_that_do_not_fit_the_texts_are_garbage() {
        let (a, b) = (embed("a"), embed("b"));
        let vector = |index: u64| json!({"index": index, "embedding": [1.0]});
        for data in [
            json!([vector(0)]),
            json!([vector(0), vector(0)]),
            json!([vector(0), vector(2)]),
            json!([vector(0), {"index": 1, "embedding": []}]),
            json!("none"),
        ] {
            let came = received(200, json!({"data": data}));
            let fault = split_embeddings(&[&a, &b], came, &ReplyMarks::default()).unwrap_err();
            assert!(matches!(fault.kind, Kind::Garbage(_)), "{data}: {fault:?}");
        }
        let fault =
            split_embeddings(&[&a, &b], received(429, json!({})), &ReplyMarks::default()).unwrap_err();
        assert_eq!(fault.kind, Kind::Status(429));
        // Some servers do not number the embeddings.
        let plain = json!({"data": [{"embedding": [1.0]}, {"embedding": [2.0]}]});
        assert_eq!(
            split_embeddings(&[&a, &b], received(200, plain), &ReplyMarks::default()).unwrap()[1].0.vector,
            Some(vec![2.0])
        );
    }

    proptest! {
        #[test]
        fn shares_add_up(total in 0..u64::MAX / 2, weights in proptest::collection::vec(0..1000u64, 1..50)) {
            let parts = split_total(total, &weights);
            let all: u64 = weights.iter().sum();
            prop_assert_eq!(parts.iter().sum::<u64>(), if all == 0 { 0 } else { total });
        }
    }
}
