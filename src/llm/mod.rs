//! The LLM engine: a store of paid replies, a budget, retries, tolerant parsing.
