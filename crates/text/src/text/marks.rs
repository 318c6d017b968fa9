//! Which texts ask in a language that no other rules know: by their question marks alone.

/// Question marks of any script: Latin and Chinese, Arabic, Armenian, Ethiopic and two of the past.
const QUESTION: [char; 7] = ['?', '？', '؟', '՞', '፧', '⁇', '\u{2e2e}'];

/// Whether a text asks, with the rule and the sentence that decided: one of its sentences ends in a question mark. The
/// Spanish mark before a sentence is not needed, and the Greek one is also a semicolon.
pub fn asks(text: &str) -> (bool, &'static str, String) {
    let Some(at) = text.rfind(QUESTION) else { return (false, "no-cue", String::new()) };
    let before = text[..at].trim_end_matches(QUESTION);
    let start = before.rfind(['.', '!', '。', '！', '\n']).map_or(0, |end| end + 1);
    let sentence = text[start..at].trim_matches(|c: char| !c.is_alphanumeric());
    if sentence.is_empty() {
        return (false, "no-cue", String::new());
    }
    let rule = if text[at..].chars().any(char::is_alphanumeric) { "mark-within" } else { "final-mark" };
    (true, rule, sentence.chars().take(40).collect())
}

#[cfg(test)]
mod tests {
    use super::asks;

    #[test]
    fn marks_of_any_script_ask() {
        assert_eq!(asks("Warum schlafen Katzen?").1, "final-mark");
        assert_eq!(asks("لماذا لا ينام الليل؟").1, "final-mark");
        assert_eq!(asks("¿Por qué? No lo sé.").1, "mark-within");
        for text in ["Katzen schlafen.", "?", "…？！", ""] {
            assert!(!asks(text).0, "{text}");
        }
    }
}
