//! Prices of models as litellm publishes them: `model_prices_and_context_window.json`. A workspace keeps what it imported, so
//! that a price changes only when somebody imports it anew.

use std::collections::BTreeMap;
use std::path::Path;

use riddlemill_files::{Error, durable};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::settings::{Endpoint, Provider};

/// The file of a workspace's prices.
pub const PRICES: &str = "prices.json";
/// More dollars per million tokens than any model costs.
const MOST: f64 = 100_000.0;

/// Prices by model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// The file that they were imported from, and its SHA-256.
    #[serde(default)]
    pub source: PriceSource,
    /// By litellm's name of the model.
    pub models: BTreeMap<String, ModelPrice>,
}

/// Where prices come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceSource {
    /// The file's name.
    pub file: String,
    /// The SHA-256 of its bytes.
    pub sha256: String,
}

/// A model's price, in dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelPrice {
    /// Of a prompt.
    pub usd_per_million_in: f64,
    /// Of an answer.
    pub usd_per_million_out: f64,
    /// Of a prompt's cached part, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd_per_million_cached: Option<f64>,
    /// Of an answer's reasoning, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd_per_million_reasoning: Option<f64>,
    /// Of a prompt in a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_in: Option<f64>,
    /// Of an answer in a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_out: Option<f64>,
}

/// Why a file has no prices.
#[derive(Debug, thiserror::Error)]
pub enum PricesError {
    /// It is not JSON, or of another form.
    #[error("not litellm's list of prices: {0}")]
    Form(String),
    /// No entry has prices of tokens.
    #[error("no model in it has input_cost_per_token and output_cost_per_token")]
    Nothing,
}

impl Prices {
    /// Reads litellm's list. Entries without both prices of tokens (images, audio) are left out; how many those are.
    ///
    /// # Errors
    /// [`PricesError`] if it is not such a list.
    pub fn of_litellm(text: &str, source: PriceSource) -> Result<(Prices, usize), PricesError> {
        let list: BTreeMap<String, Value> = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| PricesError::Form(error.to_string()))?;
        let mut prices = Prices { source, models: BTreeMap::new() };
        let mut left_out = 0;
        for (name, entry) in list {
            // It describes the fields.
            if name == "sample_spec" {
                continue;
            }
            match of_entry(&entry) {
                Some(price) => drop(prices.models.insert(name, price)),
                None => left_out += 1,
            }
        }
        if prices.models.is_empty() { Err(PricesError::Nothing) } else { Ok((prices, left_out)) }
    }

    /// The prices of a workspace; none if it has no such file.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be read, or is none.
    pub fn read_prices(root: &Path) -> Result<Prices, Error> {
        let path = root.join(PRICES);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Prices::default()),
            Err(error) => return Err(Error::io("read", &path)(error)),
        };
        let damaged = |what: String| Error::Damaged {
            path: path.clone(),
            what,
            hint: "`riddlemill prices import FILE` writes it again".into(),
        };
        let prices: Prices = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        match prices.models.iter().find(|(_, price)| !price.is_plausible()) {
            Some((name, _)) => Err(damaged(format!("the price of {name:?} is none"))),
            None => Ok(prices),
        }
    }

    /// Writes them into a workspace.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be written.
    pub fn write_prices(&self, root: &Path) -> Result<(), Error> {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        durable::replace_file(&root.join(PRICES), text.as_bytes())
    }

    /// The price of an endpoint's model: under the name that `price_of` gives, else under the model's, first with the name of
    /// its provider before it.
    pub fn price_of_endpoint(&self, endpoint: &Endpoint) -> Option<(&str, ModelPrice)> {
        let model = &endpoint.model;
        let host = reqwest::Url::parse(&endpoint.base_url).ok();
        let host = host.as_ref().and_then(reqwest::Url::host_str).unwrap_or_default();
        let by_host = HOSTS.iter().find(|(known, _)| host == *known || host.ends_with(&format!(".{known}")));
        let by_provider = match endpoint.provider {
            Provider::Azure => Some("azure"),
            Provider::Gemini => Some("gemini"),
            _ => None,
        };
        let names = match &endpoint.price_of {
            Some(name) => vec![name.clone()],
            None => {
                let before = by_host.map(|(_, name)| *name).or(by_provider);
                before.map(|before| format!("{before}/{model}")).into_iter().chain([model.clone()]).collect()
            }
        };
        let found = names.iter().find_map(|name| self.models.get_key_value(name))?;
        Some((found.0.as_str(), *found.1))
    }

    /// Gives an endpoint the prices of its model, if it has none of its own.
    pub fn fill_prices(&self, endpoint: &mut Endpoint) {
        let own = endpoint.usd_per_million_in.is_some() || endpoint.usd_per_million_out.is_some();
        if own || endpoint.free || endpoint.provider.is_pack() {
            return;
        }
        let Some((_, price)) = self.price_of_endpoint(endpoint) else { return };
        let batch = |usual: f64, of_batch: Option<f64>| {
            if endpoint.batch { of_batch.unwrap_or(usual) } else { usual }
        };
        let (dollars_in, dollars_out) = (
            batch(price.usd_per_million_in, price.batch_in),
            batch(price.usd_per_million_out, price.batch_out),
        );
        endpoint.usd_per_million_in = Some(dollars_in);
        endpoint.usd_per_million_out = Some(dollars_out);
        endpoint.usd_per_million_cached = endpoint.usd_per_million_cached.or(price.usd_per_million_cached);
        endpoint.usd_per_million_reasoning =
            endpoint.usd_per_million_reasoning.or(price.usd_per_million_reasoning);
    }
}

/// Hosts whose models litellm lists under a name of their own.
const HOSTS: [(&str, &str); 8] = [
    ("openrouter.ai", "openrouter"),
    ("api.deepseek.com", "deepseek"),
    ("dashscope.aliyuncs.com", "dashscope"),
    ("dashscope-intl.aliyuncs.com", "dashscope"),
    ("api.moonshot.cn", "moonshot"),
    ("api.groq.com", "groq"),
    ("api.together.xyz", "together_ai"),
    ("api.mistral.ai", "mistral"),
];

impl ModelPrice {
    fn is_plausible(&self) -> bool {
        let plausible = |dollars: f64| dollars.is_finite() && (0.0..=MOST).contains(&dollars);
        let more =
            [self.usd_per_million_cached, self.usd_per_million_reasoning, self.batch_in, self.batch_out];
        [self.usd_per_million_in, self.usd_per_million_out]
            .into_iter()
            .chain(more.into_iter().flatten())
            .all(plausible)
    }
}

fn of_entry(entry: &Value) -> Option<ModelPrice> {
    // Rounded, because 1.5e-07 a token is 0.15000000000000002 a million.
    let million = |name: &str| Some((entry.get(name)?.as_f64()? * 1e15).round() / 1e9);
    let price = ModelPrice {
        usd_per_million_in: million("input_cost_per_token")?,
        usd_per_million_out: million("output_cost_per_token")?,
        usd_per_million_cached: million("cache_read_input_token_cost"),
        usd_per_million_reasoning: million("output_cost_per_reasoning_token"),
        batch_in: million("input_cost_per_token_batches"),
        batch_out: million("output_cost_per_token_batches"),
    };
    price.is_plausible().then_some(price)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{
        "sample_spec": {"input_cost_per_token": 0.0, "output_cost_per_token": 0.0, "mode": "one of: chat, embedding"},
        "gpt-4o-mini": {"input_cost_per_token": 1.5e-07, "output_cost_per_token": 6e-07, "cache_read_input_token_cost": 7.5e-08,
            "input_cost_per_token_batches": 7.5e-08, "output_cost_per_token_batches": 3e-07, "litellm_provider": "openai"},
        "azure/gpt-4o-mini": {"input_cost_per_token": 1.65e-07, "output_cost_per_token": 6.6e-07},
        "openrouter/deepseek/deepseek-chat": {"input_cost_per_token": 1.4e-07, "output_cost_per_token": 2.8e-07},
        "dall-e-3": {"input_cost_per_pixel": 1e-8},
        "odd": {"input_cost_per_token": -1, "output_cost_per_token": 1e300}
    }"#;

    #[test]
    fn litellms_list_prices_endpoints() {
        let (prices, left_out) = Prices::of_litellm(LIST, PriceSource::default()).unwrap();
        assert_eq!((prices.models.len(), left_out), (3, 2));
        let priced = |endpoint: Endpoint| {
            let mut endpoint = endpoint;
            prices.fill_prices(&mut endpoint);
            (endpoint.usd_per_million_in, endpoint.usd_per_million_out, endpoint.usd_per_million_cached)
        };
        let mini = Endpoint::new("e", "https://api.openai.com/v1", "gpt-4o-mini");
        assert_eq!(priced(mini.clone()), (Some(0.15), Some(0.6), Some(0.075)));
        assert_eq!(priced(Endpoint { batch: true, ..mini.clone() }), (Some(0.075), Some(0.3), Some(0.075)));
        assert_eq!(priced(Endpoint { provider: Provider::Azure, ..mini.clone() }).0, Some(0.165));
        assert_eq!(priced(Endpoint { free: true, ..mini.clone() }).0, None);
        assert_eq!(
            priced(Endpoint { usd_per_million_in: Some(9.0), ..mini.clone() }),
            (Some(9.0), None, None)
        );
        let chat = Endpoint::new("e", "https://openrouter.ai/api/v1", "deepseek/deepseek-chat");
        assert_eq!(priced(chat).0, Some(0.14));
        let named = Endpoint {
            price_of: Some("azure/gpt-4o-mini".into()),
            ..Endpoint::new("e", "http://127.0.0.1:9", "m")
        };
        assert_eq!(priced(named).0, Some(0.165));
        assert_eq!(priced(Endpoint::new("e", "http://127.0.0.1:9", "unknown")).0, None);
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else_is_a_list() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Prices::read_prices(dir.path()).unwrap(), Prices::default());
        let (prices, _) = Prices::of_litellm(LIST, PriceSource::default()).unwrap();
        prices.write_prices(dir.path()).unwrap();
        assert_eq!(Prices::read_prices(dir.path()).unwrap(), prices);
        for wrong in ["", "[]", "{}", "{\"a\": 1}", "<html>"] {
            assert!(Prices::of_litellm(wrong, PriceSource::default()).is_err(), "{wrong}");
        }
        std::fs::write(
            dir.path().join(PRICES),
            "{\"models\": {\"m\": {\"usd_per_million_in\": -1, \"usd_per_million_out\": 1}}}",
        )
        .unwrap();
        assert!(Prices::read_prices(dir.path()).is_err());
    }
}
