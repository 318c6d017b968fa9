//! A question with a good and a bad answer.

use super::cell::record;

record! {
    /// An item of RuozhiBench-MC (Zhai et al., 4.2).
    pub struct Choice {
        /// The question's id.
        id: String,
        /// The question in Chinese.
        text: String,
        /// The question in English.
        question_en: String,
        /// What is irrational about it.
        irrationality: String,
        /// The normal question; null where none fits.
        pair: Option<String>,
        /// Its categories, `1` to `6`, ascending.
        categories: Vec<String>,
        /// The answer that is rated higher.
        good: String,
        /// Whose it is.
        good_model: String,
        /// The answer that is rated lower.
        bad: String,
        /// Whose it is.
        bad_model: String,
        /// How far their means are apart.
        gap: f64,
        /// How many pairs were more than 2 apart; 0 where the highest and the lowest are in.
        pairs: u64,
        /// Whether the good answer is shown first.
        good_first: bool,
        /// All ratings of answers to this question: the model that answered.
        rating_models: Vec<String>,
        /// Who judged, for each of them.
        rating_judges: Vec<String>,
        /// `0` to `4`, for each of them.
        ratings: Vec<String>,
        /// `confirmed`, `provisional` or `synthetic`: as sure as the question, and synthetic where a sample
        /// answered or judged.
        standing: String,
    }
}
