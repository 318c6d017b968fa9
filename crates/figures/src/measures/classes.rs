//! Macro F1 (FLUB 2.3: "focuses on both the accuracy of model prediction and the coverage"), and the other figures of right and
//! predicted classes, as scikit-learn defines them.

use riddlemill_benchmarks::table::{ClassScore, Classes};

/// Weighted counts of gold and predicted classes.
#[derive(Clone, Debug)]
pub struct Confusions {
    right: Vec<f64>,
    gold: Vec<f64>,
    predicted: Vec<f64>,
    /// All answers.
    all: f64,
    /// Those without a class.
    none: f64,
}

impl Confusions {
    /// Empty, for `classes` classes.
    pub fn new(classes: usize) -> Confusions {
        let empty = || vec![0.0; classes];
        Confusions { right: empty(), gold: empty(), predicted: empty(), all: 0.0, none: 0.0 }
    }

    /// Adds an answer. One without a class (`None`) counts as missed by its gold class and for no other.
    pub fn add(&mut self, gold: usize, predicted: Option<usize>, weight: f64) {
        self.add_all(&[gold], predicted.as_slice(), weight);
    }

    /// Adds an answer that may name several classes, to an item that may have several.
    pub fn add_all(&mut self, gold: &[usize], predicted: &[usize], weight: f64) {
        self.all += weight;
        if predicted.is_empty() {
            self.none += weight;
        }
        for &class in gold {
            self.gold[class] += weight;
            if predicted.contains(&class) {
                self.right[class] += weight;
            }
        }
        for &class in predicted {
            self.predicted[class] += weight;
        }
    }

    /// The mean of the F1 of every class that is in the gold or was predicted, like scikit-learn's `f1_score`
    /// with `average="macro"`, from 0 to 1; `None` without answers.
    pub fn macro_f1(&self) -> Option<f64> {
        let (mut sum, mut classes) = (0.0, 0.0);
        for ((right, gold), predicted) in self.right.iter().zip(&self.gold).zip(&self.predicted) {
            if gold + predicted > 0.0 {
                sum += 2.0 * right / (gold + predicted);
                classes += 1.0;
            }
        }
        (classes > 0.0).then(|| sum / classes)
    }
}

impl Confusions {
    /// The mean of the F1 of exactly these classes, 0 for one that is neither gold nor predicted, like
    /// `f1_score` with `labels`; `None` without answers or classes.
    pub fn macro_f1_of(&self, labels: &[usize]) -> Option<f64> {
        let any = self.gold.iter().chain(&self.predicted).any(|count| *count > 0.0);
        let f1 = |&at: &usize| {
            let both = self.gold[at] + self.predicted[at];
            if both > 0.0 { 2.0 * self.right[at] / both } else { 0.0 }
        };
        (any && !labels.is_empty()).then(|| labels.iter().map(f1).sum::<f64>() / labels.len() as f64)
    }
}

impl Confusions {
    /// A figure over these classes; `None` where it is undefined: without answers, without anything of the class, or for a
    /// correlation where the answers or the right classes do not vary.
    ///
    /// A macro average is that of the classes in the gold or predicted, where an undefined precision or recall is 0. An
    /// answer without a class is missed by its gold class; in the correlation over all classes it is a class of its own.
    pub fn compute_score(&self, score: ClassScore, over: Classes) -> Option<f64> {
        let total = |counts: &[f64]| counts.iter().sum::<f64>();
        match (score, over) {
            (ClassScore::Mcc, Classes::One(at)) => self.correlation_of(at),
            (ClassScore::Mcc, Classes::Micro | Classes::Macro) => self.matthews_correlation(),
            (_, Classes::One(at)) => self.of_class(score, at),
            (_, Classes::Micro) => {
                score_of_counts(score, [total(&self.right), total(&self.gold), total(&self.predicted)], None)
            }
            (_, Classes::Macro) => {
                let some = |at: &usize| self.gold[*at] + self.predicted[*at] > 0.0;
                let classes: Vec<usize> = (0..self.gold.len()).filter(some).collect();
                let sum: f64 = classes.iter().map(|at| self.of_class(score, *at).unwrap_or(0.0)).sum();
                (!classes.is_empty()).then(|| sum / classes.len() as f64)
            }
        }
    }

    fn of_class(&self, score: ClassScore, at: usize) -> Option<f64> {
        score_of_counts(score, [self.right[at], self.gold[at], self.predicted[at]], Some(self.all))
    }

    /// Matthews' coefficient of one class against all others.
    fn correlation_of(&self, at: usize) -> Option<f64> {
        let (gold, predicted) = (self.gold[at], self.predicted[at]);
        let varies = gold * (self.all - gold) * predicted * (self.all - predicted);
        (varies > 0.0).then(|| (self.right[at] * self.all - gold * predicted) / varies.sqrt())
    }

    /// Matthews' coefficient over all classes (Gorodkin's R of K classes).
    fn matthews_correlation(&self) -> Option<f64> {
        let right: f64 = self.right.iter().sum();
        let squares = |counts: &[f64]| counts.iter().map(|count| count * count).sum::<f64>();
        let both: f64 = self.gold.iter().zip(&self.predicted).map(|(gold, predicted)| gold * predicted).sum();
        let all = self.all * self.all;
        let varies = (all - squares(&self.predicted) - self.none * self.none) * (all - squares(&self.gold));
        (varies > 0.0).then(|| (right * self.all - both) / varies.sqrt())
    }
}

/// A figure of right, gold and predicted counts; among `all` answers, for the false positives.
fn score_of_counts(score: ClassScore, [right, gold, predicted]: [f64; 3], all: Option<f64>) -> Option<f64> {
    let share = |part: f64, of: f64| (of > 0.0).then(|| part / of);
    match score {
        ClassScore::Precision => share(right, predicted),
        ClassScore::Recall => share(right, gold),
        ClassScore::F1 => share(2.0 * right, gold + predicted),
        ClassScore::FalsePositives => share(predicted - right, all? - gold),
        ClassScore::FalseNegatives => share(gold - right, gold),
        ClassScore::Mcc => None,
    }
}

/// Macro F1 of answers: gold class, and the predicted one if any.
pub fn macro_f1(answers: &[(usize, Option<usize>)], classes: usize) -> Option<f64> {
    let mut confusions = Confusions::new(classes);
    answers.iter().for_each(|&(gold, predicted)| confusions.add(gold, predicted, 1.0));
    confusions.macro_f1()
}
