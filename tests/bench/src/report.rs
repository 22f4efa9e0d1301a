//! The results: a table for people, JSON for programs.

use serde_json::{Value, json};

/// One figure, perhaps compared with another one of the same run.
struct Row {
    name: String,
    value: f64,
    unit: &'static str,
    comparison: Option<Comparison>,
    /// Why there is no figure.
    skipped: Option<String>,
}

/// The comparison of a figure with another one.
struct Comparison {
    name: String,
    ratio: f64,
    /// The lowest and the highest ratio of single rounds.
    spread: Option<(f64, f64)>,
    /// The ratio that is aimed at: at most this.
    goal: Option<f64>,
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2}", self.ratio)?;
        if let Some((low, high)) = self.spread {
            write!(f, " ({low:.2} to {high:.2})")?;
        }
        write!(f, " of {}", self.name)?;
        match self.goal {
            Some(goal) if self.ratio <= goal => write!(f, "; goal: at most {goal}"),
            Some(goal) => write!(f, "; goal missed: at most {goal}"),
            None => Ok(()),
        }
    }
}

#[derive(Default)]
pub(crate) struct Report(Vec<Row>);

impl Report {
    pub(crate) fn add(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        self.0.push(Row { name: name.into(), value, unit, comparison: None, skipped: None });
    }

    /// Records that a figure was not measured, and why.
    pub(crate) fn skip(&mut self, name: impl Into<String>, why: String) {
        self.add(name, f64::NAN, "");
        if let Some(row) = self.0.last_mut() {
            row.skipped = Some(why);
        }
    }

    /// Records a comparison of the last figure with the figure of this name.
    pub(crate) fn compare_with(&mut self, name: &str, ratio: f64, spread: Option<(f64, f64)>) {
        if let Some(row) = self.0.last_mut() {
            row.comparison = Some(Comparison { name: name.to_owned(), ratio, spread, goal: None });
        }
    }

    /// Records that the last comparison's ratio should be at most this.
    pub(crate) fn aim_at_most(&mut self, goal: f64) {
        if let Some(comparison) = self.0.last_mut().and_then(|row| row.comparison.as_mut()) {
            comparison.goal = Some(goal);
        }
    }

    pub(crate) fn print(&self) {
        println!("{:<52} {:>12} {:<6} ratio", "", "", "");
        for row in &self.0 {
            if let Some(why) = &row.skipped {
                println!("{:<52} {:>12} {why}", row.name, "skipped");
                continue;
            }
            let ratio = row.comparison.as_ref().map(ToString::to_string).unwrap_or_default();
            let decimals = if row.unit == "ms" && row.value < 10.0 { 3 } else { 1 };
            println!("{:<52} {:>12.decimals$} {:<6} {ratio}", row.name, row.value, row.unit);
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
                    "goal": comparison.and_then(|comparison| comparison.goal),
                    "skipped": row.skipped,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_says_whether_it_meets_its_goal() {
        let mut report = Report::default();
        report.add("b", 4.0, "ms");
        report.compare_with("a", 2.5, Some((2.0, 3.0)));
        report.aim_at_most(3.0);
        let text = |report: &Report| report.0[0].comparison.as_ref().unwrap().to_string();
        assert_eq!(text(&report), "2.50 (2.00 to 3.00) of a; goal: at most 3");
        report.aim_at_most(2.0);
        assert_eq!(text(&report), "2.50 (2.00 to 3.00) of a; goal missed: at most 2");
    }

    #[test]
    fn a_figure_that_was_not_measured_has_no_value() {
        let mut report = Report::default();
        report.skip("c", "no compiler".to_owned());
        let rows: Value = serde_json::from_str(&report.json()).unwrap();
        assert_eq!(rows[0]["value"], Value::Null);
        assert_eq!(rows[0]["skipped"], "no compiler");
    }
}
