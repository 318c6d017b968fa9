use super::*;

fn rating<'a>(response: &'a str, judge: &'a str, repeat: u32, rating: u32) -> Rating<'a> {
    // `q1/m` is model m's answer to q1.
    let (question, model) = response.split_once('/').unwrap();
    Rating { question, normal: false, response, model, judge, repeat, rating }
}

#[test]
fn two_judges_are_compared_on_ratings_and_on_means() {
    let ratings = [
        rating("q1/m", "a", 0, 0),
        rating("q1/m", "b", 0, 2),
        rating("q1/n", "a", 0, 4),
        rating("q1/n", "b", 0, 4),
        rating("q2/m", "a", 0, 1),
        rating("q2/m", "b", 0, 2),
        // Rated by one judge only.
        rating("q3/m", "a", 0, 3),
    ];
    let [pair] = &judge_pairs(&ratings)[..] else { panic!() };
    assert_eq!(pair.judges, ["a", "b"]);
    // (0, 2), (4, 4), (1, 2): by hand 14/3 / sqrt(26/3 * 8/3).
    assert_eq!(pair.individual.pairs, 3);
    assert!((pair.individual.pearson.unwrap() - 0.970_725_3).abs() < 1e-6, "{pair:?}");
    assert!((pair.individual.difference.unwrap() + 1.0).abs() < 1e-12);
    assert!((pair.individual.large_percent.unwrap() - 100.0 / 3.0).abs() < 1e-9);
    // Means a question: (2, 3) and (1, 2).
    assert_eq!(pair.mean.pairs, 2);
    assert!((pair.mean.pearson.unwrap() - 1.0).abs() < 1e-12);
    assert_eq!(pair.mean.large_percent, Some(0.0));
}

#[test]
fn repeats_are_pairs_of_their_own() {
    let ratings = [
        rating("q/m", "a", 0, 4),
        rating("q/m", "a", 1, 2),
        rating("q/m", "b", 0, 1),
        rating("q/m", "b", 1, 2),
    ];
    let pairs = judge_pairs(&ratings);
    assert_eq!((pairs[0].individual.pairs, pairs[0].mean.pairs), (2, 1));
    assert_eq!(pairs[0].mean.difference, Some(1.5));
    // One judge's means are constant.
    assert_eq!(pairs[0].mean.pearson, None);
    assert_eq!(judge_pairs(&ratings[..2]), []);
}

#[test]
fn scores_are_percent_of_the_scale_and_the_best_comes_first() {
    let ratings = [
        rating("q/m", "a", 0, 1),
        rating("q/n", "a", 0, 4),
        rating("r/n", "a", 0, 2),
        rating("r/n", "b", 0, 3),
    ];
    let categories = [vec!["1".to_owned(), "3".into()], vec!["3".to_owned()]];
    let cells =
        mean_scores(&ratings, |question| if question == "q" { &categories[0] } else { &categories[1] });
    let scores: Vec<(&str, Option<&str>, f64)> =
        cells.iter().map(|cell| (cell.model.as_str(), cell.category.as_deref(), cell.score)).collect();
    assert_eq!(
        scores,
        [
            ("n", None, 75.0),
            ("n", Some("1"), 100.0),
            ("n", Some("3"), 75.0),
            ("m", None, 25.0),
            ("m", Some("1"), 25.0),
            ("m", Some("3"), 25.0)
        ]
    );
    // Four ratings of one judge weigh as much as one of the other.
    let many = ["s", "t", "u", "v"].map(|question| format!("{question}/m"));
    let mut uneven: Vec<Rating<'_>> = many.iter().map(|response| rating(response, "a", 0, 4)).collect();
    uneven.push(rating("s/m", "b", 0, 0));
    assert_eq!(mean_scores(&uneven, |_| &[])[0].score, 50.0, "and not 80, the mean of all five");
    let counts: Vec<[u64; 5]> = count_ratings(&ratings).into_iter().map(|of| of.counts).collect();
    assert_eq!(counts[..2], [[0, 1, 1, 0, 1], [0, 0, 0, 1, 0]]);
}
