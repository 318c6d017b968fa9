//! Macro F1 (FLUB 2.3: "focuses on both the accuracy of model prediction and the coverage").

/// Weighted counts of gold and predicted classes.
#[derive(Clone, Debug)]
pub struct Confusions {
    right: Vec<f64>,
    gold: Vec<f64>,
    predicted: Vec<f64>,
}

impl Confusions {
    /// Empty, for `classes` classes.
    pub fn new(classes: usize) -> Confusions {
        Confusions { right: vec![0.0; classes], gold: vec![0.0; classes], predicted: vec![0.0; classes] }
    }

    /// Adds an answer. One without a class (`None`) counts as missed by its gold class and for no other.
    pub fn add(&mut self, gold: usize, predicted: Option<usize>, weight: f64) {
        self.gold[gold] += weight;
        if let Some(class) = predicted {
            self.predicted[class] += weight;
            if class == gold {
                self.right[gold] += weight;
            }
        }
    }

    /// Adds an answer that may name several classes, to an item that may have several.
    pub fn add_all(&mut self, gold: &[usize], predicted: &[usize], weight: f64) {
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

/// Macro F1 of answers: gold class, and the predicted one if any.
pub fn macro_f1(answers: &[(usize, Option<usize>)], classes: usize) -> Option<f64> {
    let mut confusions = Confusions::new(classes);
    answers.iter().for_each(|&(gold, predicted)| confusions.add(gold, predicted, 1.0));
    confusions.macro_f1()
}
