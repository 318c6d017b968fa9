//! The logs of raw/, as each crate registers them.

use riddlemill_files::log::LogName;

/// Those of tasks, of what annotators skip on the pages, and of withdrawals.
const LOGS: &[LogName] =
    &[LogName::Files("votes/assigned"), LogName::Files("votes/skipped"), LogName::File("withdrawn.jsonl")];

/// The logs that this crate and those below it write.
pub fn registered_logs() -> Vec<LogName> {
    [riddlemill_files::LOGS, riddlemill_llm::LOGS, LOGS, riddlemill_review::LOGS].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_log_is_registered_twice() {
        let all = registered_logs();
        assert!(all.len() > 10);
        for (at, name) in all.iter().enumerate() {
            assert!(!all[at + 1..].contains(name), "{name:?}");
        }
    }
}
