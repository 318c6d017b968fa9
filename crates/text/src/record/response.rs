//! A model's answer to a question, and what judges give it.

use super::cell::record;

record! {
    /// A response of RuozhiBench (Zhai et al., 3.1). The lists of judges, ratings, reasons and replies have one
    /// entry a rating.
    pub struct Response {
        /// Question, kind of question, model and sample, hashed.
        id: String,
        /// The id of the question.
        question: String,
        /// Whether it answers the paired normal question.
        normal: bool,
        /// The question as it was asked, in English.
        asked: String,
        /// What is irrational about it; null of a normal question.
        irrationality: Option<String>,
        /// The model that answered.
        model: String,
        /// Which of its answers to this question it is, from 0.
        sample: u64,
        /// The answer.
        text: String,
        /// What it rests on: `reply:<key>`, `sample:<key>`, or the line of a file, `made:<file>:<line>`.
        basis: Vec<String>,
        /// Who rated it, once for each rating.
        judges: Vec<String>,
        /// The ratings, `0` to `4`.
        ratings: Vec<String>,
        /// Why, in the judge's words.
        reasons: Vec<String>,
        /// The replies these rest on.
        rating_basis: Vec<String>,
        /// What the self-checks found, `step: finding`.
        flags: Vec<String>,
    }
}

impl Response {
    /// The id of a response.
    pub fn id_of(question: &str, normal: bool, model: &str, sample: u64) -> String {
        super::derived(Response::role(normal), &[question, model, &sample.to_string()])
    }

    /// Its role in relation to its question.
    pub fn role(normal: bool) -> &'static str {
        if normal { "response to the pair" } else { "response" }
    }

    /// The model, with a number from its second answer on.
    pub fn name(&self) -> String {
        match self.sample {
            0 => self.model.clone(),
            n => format!("{}#{}", self.model, n + 1),
        }
    }

    /// Its ratings as numbers.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.ratings.iter().filter_map(|rating| rating.parse().ok())
    }
}
