//! What a careless translation of a Chinese text into English loses.

/// Small numbers as English writes them.
const NUMBERS: [&[&str]; 13] = [
    &["zero", "no"],
    &["one", "first", "once", "a"],
    &["two", "second", "twice"],
    &["three", "third"],
    &["four", "fourth"],
    &["five", "fifth"],
    &["six", "sixth"],
    &["seven", "seventh"],
    &["eight", "eighth"],
    &["nine", "ninth"],
    &["ten", "tenth"],
    &["eleven", "eleventh"],
    &["twelve", "twelfth"],
];

/// Lost numbers and Latin names, a question that no longer asks, leftover Chinese.
pub fn lost(chinese: &str, english: &str) -> Vec<String> {
    let narrow: String = chinese.chars().map(narrow).collect();
    let lower = english.to_lowercase();
    let digits = english.replace(',', "");
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let mut findings = Vec::new();
    for number in runs(&narrow, |c| c.is_ascii_digit()) {
        let spelled = number.parse::<usize>().ok().and_then(|n| NUMBERS.get(n)).copied().unwrap_or_default();
        let there = runs(&digits, |c| c.is_ascii_digit()).contains(&number)
            || spelled.iter().any(|word| words.contains(word));
        if !there {
            findings.push(format!("the number {number} is lost"));
        }
    }
    // A single letter may be a unit or a grade, which English writes out.
    for name in runs(&narrow, |c| c.is_ascii_alphabetic()).into_iter().filter(|name| name.len() > 1) {
        if !lower.contains(&name.to_lowercase()) {
            findings.push(format!("the name {name} is lost"));
        }
    }
    if narrow.trim_end().ends_with('?') && !english.contains('?') {
        findings.push("the question is no question any more".into());
    }
    if english.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)) {
        findings.push("Chinese is left in it".into());
    }
    findings
}

fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        other => other,
    }
}

/// The longest runs of matching characters, each once.
fn runs(text: &str, of: impl Fn(char) -> bool) -> Vec<&str> {
    let mut runs: Vec<&str> = text.split(|c| !of(c)).filter(|run| !run.is_empty()).collect();
    runs.dedup();
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_named() {
        let zh = "一张ＤＶＤ能装４．７GB，120张能装多少？";
        assert_eq!(lost(zh, "A DVD holds 4.7 GB. How much do 120 DVDs hold?"), Vec::<String>::new());
        assert_eq!(
            lost(zh, "A disc holds 4.7 GB; 12 discs hold a lot of 东西."),
            [
                "the number 120 is lost",
                "the name DVD is lost",
                "the question is no question any more",
                "Chinese is left in it"
            ]
        );
        assert_eq!(lost("3个人", "three people"), Vec::<String>::new());
        assert_eq!(lost("3000元", "3,000 yuan"), Vec::<String>::new());
    }
}
