//! The results: a table for people, JSON for programs.

use serde_json::{Value, json};

/// One figure, perhaps compared with another one of the same run.
struct Row {
    name: String,
    value: f64,
    unit: &'static str,
    comparison: Option<Comparison>,
}

/// The comparison of a figure with another one.
struct Comparison {
    name: String,
    ratio: f64,
    /// The lowest and the highest ratio of single rounds.
    spread: Option<(f64, f64)>,
}

#[derive(Default)]
pub(crate) struct Report(Vec<Row>);

impl Report {
    pub(crate) fn add(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        self.0.push(Row { name: name.into(), value, unit, comparison: None });
    }

    /// Records a comparison of the last figure with the figure of this name.
    pub(crate) fn compare_with(&mut self, name: &str, ratio: f64, spread: Option<(f64, f64)>) {
        if let Some(row) = self.0.last_mut() {
            row.comparison = Some(Comparison { name: name.to_owned(), ratio, spread });
        }
    }

    pub(crate) fn print(&self) {
        println!("{:<52} {:>12} {:<6} ratio", "", "", "");
        for row in &self.0 {
            let ratio = row.comparison.as_ref().map_or_else(
                String::new,
                |Comparison { name, ratio, spread }| {
                    let spread = spread.map_or_else(String::new, |(low, high)| {
                        format!(" ({low:.2} to {high:.2})")
                    });
                    format!("{ratio:.2}{spread} of {name}")
                },
            );
            println!("{:<52} {:>12.1} {:<6} {ratio}", row.name, row.value, row.unit);
        }
    }

    pub(crate) fn json(&self) -> String {
        let rows: Vec<Value> = self
            .0
            .iter()
            .map(|row| {
                let comparison = row.comparison.as_ref();
                json!({
                    "name": row.name,
                    "value": row.value,
                    "unit": row.unit,
                    "against": comparison.map(|comparison| &comparison.name),
                    "ratio": comparison.map(|comparison| comparison.ratio),
                    "spread": comparison.and_then(|comparison| comparison.spread),
                })
            })
            .collect();
        format!("{:#}\n", Value::from(rows))
    }
}

/// Returns the median of the figures.
pub(crate) fn median(figures: &[f64]) -> f64 {
    percentile(figures, 50)
}

pub(crate) fn percentile(figures: &[f64], percent: usize) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() * percent / 100).copied().unwrap_or(f64::NAN)
}

/// Returns the lowest and the highest figure.
pub(crate) fn spread(figures: &[f64]) -> (f64, f64) {
    figures.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), figure| {
        (low.min(*figure), high.max(*figure))
    })
}
