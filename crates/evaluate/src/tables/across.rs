//! Figures over models: MC against Gen (figure 8), scores against sizes (figure 9).

use std::collections::BTreeMap;

use riddlemill_benchmarks::figure::Figure as Declared;

use super::orders::of_model;
use crate::figures::{Figure, Keys, Table, figure_row};
use crate::measures::{
    Correlation, EXACT, Resamples, pearson_correlation, pearson_r, spearman_correlation, spearman_r,
};
use crate::review::agreement::Bootstrap;

/// A model with two figures.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Point {
    pub model: String,
    /// The figure on the first axis.
    pub x: f64,
    /// The figure on the second.
    pub y: f64,
}

/// Models by two figures, and their correlation.
pub fn correlation_table(
    declared: &Declared,
    axes: [&str; 2],
    points: &[Point],
    bootstrap: Bootstrap,
) -> Table {
    let pairs: Vec<(f64, f64)> = points.iter().map(|point| (point.x, point.y)).collect();
    let resamples = Resamples::new(bootstrap, declared.name, points.len());
    let repeated = |weights: &[u16]| -> Vec<(f64, f64)> {
        let times = pairs.iter().zip(weights);
        times.flat_map(|(pair, weight)| std::iter::repeat_n(*pair, usize::from(*weight))).collect()
    };
    let correlation = |of: fn(&[(f64, f64)]) -> Option<f64>| {
        let (r, ends) = resamples.estimate_correlation(pairs.len(), |weights| of(&repeated(weights)))?;
        Some(Figure::with_ends(r, ends, points.len(), Keys::new()))
    };
    let p = |of: fn(&[(f64, f64)]) -> Option<Correlation>| {
        Some(Figure::without_interval(of(&pairs)?.p?, points.len(), Keys::new()))
    };
    let figure = |value: f64, model: &str| Some(Figure::without_interval(value, 1, of_model(model)));
    let mut rows: Vec<_> = points
        .iter()
        .map(|point| {
            let cells = vec![figure(point.x, &point.model), figure(point.y, &point.model), None, None];
            figure_row(&point.model, cells)
        })
        .collect();
    rows.push(figure_row("Pearson", vec![None, None, correlation(pearson_r), p(pearson_correlation)]));
    rows.push(figure_row("Spearman", vec![None, None, correlation(spearman_r), p(spearman_correlation)]));
    Table {
        about: format!(
            "Each model by both figures, and their correlation over the models; its interval resamples \
             models, and is left out if all points lie on a line. p is computed over all orders of up to \
             {EXACT} models, and with Student's t for more."
        ),
        ..Table::of_figures("Model", axes.into_iter().chain(["r", "p"]), rows).with_heading(declared)
    }
}

/// Models that have both figures.
pub fn pair_points(x: &BTreeMap<String, f64>, y: &[(String, Figure)]) -> Vec<Point> {
    let point = |(model, cell): &(String, Figure)| {
        Some(Point { model: model.clone(), x: *x.get(model)?, y: cell.value })
    };
    y.iter().filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::figures_of;

    /// RuozhiBench, figure 8: the correlation and its p stand in columns of their own, behind the two scores of each model.
    #[test]
    fn r_and_p_have_columns_of_their_own() {
        let declared = riddlemill_benchmarks::find_benchmark("ruozhibench-mc").unwrap();
        let declared = declared.evaluation.iter().find(|table| table.name == "gen-mc").unwrap();
        let point = |(model, x, y): (&str, f64, f64)| Point { model: model.into(), x, y };
        let points = [("a", 1.0, 20.0), ("b", 2.0, 40.0), ("c", 3.0, 50.0)].map(point);
        let bootstrap = Bootstrap { resamples: 10, ..Bootstrap::AGREEMENT };
        let table = correlation_table(declared, ["Gen score", "MC score"], &points, bootstrap);
        assert_eq!(table.column_titles(), ["Model", "Gen score", "MC score", "r", "p"]);
        let cells = |name: &str| -> Vec<Option<f64>> {
            let row = table.rows.iter().find(|row| crate::figures::name_of(row) == name).unwrap();
            figures_of(row).map(|figure| figure.map(|figure| figure.value)).collect()
        };
        assert_eq!(cells("b"), [Some(2.0), Some(40.0), None, None]);
        // By hand: 30 / sqrt(2 * 1400 / 3), and two of the six orders of three models are as far from 0.
        for (name, r) in [("Pearson", 0.981_980_506), ("Spearman", 1.0)] {
            let [None, None, Some(found), Some(p)] = cells(name)[..] else { panic!("{:?}", cells(name)) };
            assert!((found - r).abs() < 1e-6 && (p - 1.0 / 3.0).abs() < 1e-9, "{name}: {found}, {p}");
        }
    }
}
