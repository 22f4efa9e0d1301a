//! The results: a table for people, JSON for programs.

use serde_json::{Value, json};

/// One figure, perhaps compared with another one of the same run.
struct Row {
    name: String,
    value: f64,
    unit: &'static str,
    against: Option<Comparison>,
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
        self.0.push(Row { name: name.into(), value, unit, against: None });
    }

    /// Records a comparison of the last figure with the figure of this name.
    pub(crate) fn against(&mut self, name: &str, ratio: f64, spread: Option<(f64, f64)>) {
        if let Some(row) = self.0.last_mut() {
            row.against = Some(Comparison { name: name.to_owned(), ratio, spread });
        }
    }

    pub(crate) fn print(&self) {
        println!("{:<52} {:>12} {:<6} ratio", "", "", "");
        for row in &self.0 {
            let ratio = row.against.as_ref().map_or_else(
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
                let against = row.against.as_ref();
                json!({
                    "name": row.name,
                    "value": row.value,
                    "unit": row.unit,
                    "against": against.map(|against| &against.name),
                    "ratio": against.map(|against| against.ratio),
                    "spread": against.and_then(|against| against.spread),
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
