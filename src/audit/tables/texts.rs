//! FLUB: instances a type (appendix D.2), agreement and modifications (2.2), and what may be guessed.

use serde::Serialize;

use super::{Agreement, Reviewed};
use crate::record::CunningText;
use crate::review::Resolution;
use crate::review::ballot::Choice;
use crate::shortcuts::{Item, Shortcuts, measure};

/// The figures of section 2.2 and appendix D.2.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TextTables {
    /// Texts at the end of the recipe.
    pub texts: usize,
    /// Of them, those that ask.
    pub questions: usize,
    /// Of them, those that people rewrote.
    pub rewritten: usize,
    /// Instances a type, Undefined last.
    pub types: Vec<TypeCount>,
    /// How far the juniors agree on the type: Fleiss' kappa, 0.767 in the paper.
    pub agreement: Option<Agreement>,
    /// Percent of types that the senior changed, 19.06 in the paper.
    pub modified_percent: Option<f64>,
    /// How many types a senior looked at.
    pub reviewed: usize,
    /// Texts whose wrong answers were picked from a model's.
    pub wrong_by_model: usize,
    /// What may be guessed from the options.
    pub shortcuts: Option<Shortcuts>,
    /// What became of the drafts, a review a row.
    pub reviews: Vec<Reviewed>,
}

/// A type with its instances.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TypeCount {
    /// Its name in English.
    pub name: &'static str,
    /// Its published name.
    pub zh: &'static str,
    /// How many texts.
    pub texts: usize,
}

/// `types` are the options that a type is one of.
pub(super) fn tables(
    texts: &[CunningText],
    types: &[Choice],
    agreement: Option<Agreement>,
    resolved: &[Resolution],
    reviews: Vec<Reviewed>,
    seed: u64,
) -> TextTables {
    let of_type = |code: &str| texts.iter().filter(|text| text.cunning_type.as_deref() == Some(code)).count();
    let types = types.iter().map(|kind| TypeCount {
        name: kind.label.en,
        zh: kind.label.zh,
        texts: of_type(kind.code),
    });
    let looked: Vec<bool> = resolved.iter().filter_map(|resolution| resolution.modified).collect();
    let modified = looked.iter().filter(|modified| **modified).count();
    TextTables {
        texts: texts.len(),
        questions: texts.iter().filter(|text| text.is_question == Some(true)).count(),
        rewritten: texts.iter().filter(|text| text.original.is_some()).count(),
        types: types.collect(),
        agreement,
        modified_percent: (!looked.is_empty()).then(|| 100.0 * modified as f64 / looked.len() as f64),
        reviewed: looked.len(),
        wrong_by_model: texts
            .iter()
            .filter(|text| text.candidates_status.as_deref() == Some("provisional"))
            .count(),
        shortcuts: measure(&items(texts), &[], seed),
        reviews,
    }
}

/// The texts as multiple choices; those without options are none.
fn items(texts: &[CunningText]) -> Vec<Item<'_>> {
    let item = |text: &'_ CunningText| text.answer.map(|gold| gold as usize);
    let texts = texts.iter().filter_map(|text| Some((text, item(text)?)));
    texts
        .map(|(text, gold)| Item {
            id: &text.id,
            group: &text.id,
            question: &text.text,
            options: &text.options,
            gold,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_counted_and_undefined_is_one_of_them() {
        let text = |code: &str, answer| CunningText {
            cunning_type: Some(code.into()),
            is_question: Some(code == "paradox"),
            options: ["甲", "乙", "丙", "丁"].map(String::from).to_vec(),
            answer: Some(answer),
            ..CunningText::default()
        };
        let texts = [text("paradox", 0), text("undefined", 3), text("paradox", 1)];
        let types = crate::review::ballots::options("flub", "types");
        let tables = tables(&texts, types, None, &[], Vec::new(), 1);
        assert_eq!((tables.texts, tables.questions), (3, 2));
        assert_eq!((tables.types[4].name, tables.types[4].texts), ("Paradox", 2));
        assert_eq!((tables.types[8].zh, tables.types[8].texts), ("未分类", 1));
        assert_eq!(tables.shortcuts.unwrap().positions.counts, [1, 1, 0, 1]);
        assert_eq!(tables.modified_percent, None);
    }
}
