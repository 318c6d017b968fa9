//! Checks of a ballot's definition.

use riddlemill_text::hint::unknown;

use crate::ballot::{AnswerKind, Ballot, Combine, Field, KEEP, REASON, RESERVED, Round};

impl Ballot {
    /// All faults of a definition: repeated names or codes, conditions on later fields, no voter, no vote.
    /// Checked when recipes are loaded.
    pub fn find_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut fault = |what: String| faults.push(format!("{}/{}: {what}", self.recipe, self.name));
        if self.voters.is_empty() || self.votes_needed == 0 {
            fault("no role may vote".to_owned());
        }
        for round in [Round::Vote, Round::Review] {
            let form = self.questions_of_round(round);
            for (at, field) in form.iter().enumerate() {
                if field.name == REASON || RESERVED.contains(&field.name) {
                    fault(format!("the name `{}` is taken", field.name));
                }
                if form[..at].iter().any(|other| other.name == field.name) {
                    fault(format!("two fields named `{}`", field.name));
                }
                let options = field.options();
                for (at, option) in options.iter().enumerate() {
                    if options[..at].iter().any(|other| other.code == option.code) {
                        fault(format!("two options `{}` in `{}`", option.code, field.name));
                    }
                }
                if let Some(when) = field.when {
                    match form[..at].iter().find(|other| other.name == when.field) {
                        None => fault(format!(
                            "`{}` depends on `{}`, which is not asked before it",
                            field.name, when.field
                        )),
                        Some(other) => {
                            let codes = when.write.iter().chain(when.draft);
                            codes.filter_map(|code| other.find_code_fault(code)).for_each(&mut fault);
                        }
                    }
                }
                self.faults_of(field, &form).into_iter().for_each(&mut fault);
            }
        }
        for (name, code) in &self.adjudication.asked_by {
            let second = self.review.iter().flat_map(|second| &second.fields);
            let asked: Vec<&Field> = self.fields.iter().chain(second).collect();
            match asked.iter().find(|field| field.name == *name) {
                Some(field) => field.find_code_fault(code).into_iter().for_each(&mut fault),
                None => {
                    let known = asked.iter().map(|field| field.name);
                    fault(format!("asked_by: {}", unknown("field", name, known)));
                }
            }
        }
        faults
    }

    /// References of a field that are neither shown nor asked, and unsatisfiable bounds.
    fn faults_of(&self, field: &Field, form: &[Field]) -> Vec<String> {
        let mut faults = Vec::new();
        let shown = || self.shown_keys();
        let mut seen = |key: &str, what: &str| {
            let of_votes = |vote: &str| self.fields.iter().any(|other| other.name == vote);
            if !shown().any(|known| known == key) && !key.strip_prefix("votes.").is_some_and(of_votes) {
                faults.push(format!("`{}` {what} {}", field.name, unknown("shown key", key, shown())));
            }
        };
        match &field.kind {
            AnswerKind::Pick { from, right_answer: beside, .. } => {
                seen(from, "picks from an");
                beside.iter().for_each(|beside| seen(beside, "stands beside an"));
            }
            AnswerKind::Edited { pick }
                if !form
                    .iter()
                    .any(|other| other.name == *pick && matches!(other.kind, AnswerKind::Pick { .. })) =>
            {
                faults.push(format!(
                    "`{}` edits the pick of `{pick}`, which is not a field of kind `pick`",
                    field.name
                ));
            }
            AnswerKind::Choices { options, min, max } if min > max || *max > options.len() => {
                let of = options.len();
                faults.push(format!("`{}` wants {min} to {max} of {of} options", field.name));
            }
            AnswerKind::Preference { sides, .. } => {
                let compares = self.asked.map(|asked| asked.compares.as_ref());
                match compares {
                    Some(None) => faults.push(format!(
                        "`{}` is about two texts: `compares = {{ key = \"answer\", {} = \"…\", {} = \"…\" }}` says which",
                        field.name, sides[0], sides[1]
                    )),
                    Some(Some(compares)) => {
                        let known = || compares.sides.iter().map(|(code, _)| *code);
                        let unexpected = sides.iter().filter(|side| !known().any(|code| code == **side));
                        faults.extend(
                            unexpected.map(|side| format!("`{}`: {}", field.name, unknown("side of `compares`", side, known()))),
                        );
                    }
                    None => {}
                }
            }
            AnswerKind::Score { min, max } if min >= max => {
                faults.push(format!("`{}` is a score from {min} to {max}", field.name));
            }
            _ => {}
        }
        if let Some(edits) = field.edits {
            let known = shown().any(|key| key == edits);
            if !known {
                faults.push(format!("`{}` edits an {}", field.name, unknown("shown key", edits, shown())));
            }
        }
        if field.combine == Combine::Mean && !matches!(field.kind, AnswerKind::Score { .. }) {
            faults.push(format!("`{}`: the rule \"mean\" is for the kind \"score\"", field.name));
        }
        faults
    }
}

impl Field {
    /// What is wrong with a code that its answers are compared with; `None` if it is possible.
    fn find_code_fault(&self, code: &str) -> Option<String> {
        let codes = self.options().iter().map(|option| option.code);
        let keeps = matches!(self.kind, AnswerKind::Keep { .. }).then_some(KEEP);
        let sides = match &self.kind {
            AnswerKind::Preference { sides, .. } => sides.as_slice(),
            _ => &[],
        };
        let known: Vec<&str> = codes.chain(keeps).chain(sides.iter().copied()).collect();
        // A text or a score has no codes.
        let open = known.is_empty() || known.contains(&code);
        (!open).then(|| unknown(&format!("code of `{}`", self.name), code, known))
    }
}
