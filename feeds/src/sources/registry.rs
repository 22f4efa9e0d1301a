//! The registries of the file: documents of organisations, in this project's own form or as CSV.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A document of organisations, in this project's own form or as CSV.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registry {
    pub id: String,
    pub publisher: String,
    pub url: String,
    #[serde(default)]
    pub format: RegistryFormat,
    /// For CSV: the character between two fields.
    #[serde(default = "comma")]
    pub delimiter: char,
    /// For CSV: whether the first row has the names of the columns. If not, columns are named "1", "2", ….
    #[serde(default = "yes")]
    pub header: bool,
    /// For CSV: the column of each field of an organisation.
    #[serde(default)]
    pub columns: BTreeMap<String, String>,
    /// For CSV: the value of fields that no column has.
    #[serde(default)]
    pub defaults: BTreeMap<String, String>,
    /// The licence under which the source offers its data, and whom it asks to name.
    #[serde(default)]
    pub license: Option<String>,
    #[serde(default)]
    pub attribution: Option<String>,
    /// Whether the host's `robots.txt` does not count, because its operator permits the use.
    #[serde(default)]
    pub ignore_robots: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RegistryFormat {
    #[default]
    Json,
    Csv,
}

fn comma() -> char {
    ','
}

fn yes() -> bool {
    true
}

/// The fields of an organisation that a column of a CSV can have.
const COLUMNS: [&str; 20] = [
    "slug",
    "name",
    "legal_name",
    "kind",
    "tagline",
    "description",
    "industries",
    "tags",
    "stage",
    "founded_year",
    "team_size_band",
    "status",
    "website",
    "logo_url",
    "lat",
    "lng",
    "neighbourhood",
    "address",
    "place",
    "url",
];

impl Registry {
    pub(super) fn faults(&self) -> Vec<String> {
        let Self { id, format, delimiter, columns, defaults, .. } = self;
        let mut faults = Vec::new();
        if *format == RegistryFormat::Json {
            if !columns.is_empty() || !defaults.is_empty() {
                faults.push(format!("{id}: columns and defaults are for format = \"csv\""));
            }
            return faults;
        }
        if !delimiter.is_ascii() {
            faults.push(format!("{id}: the delimiter must be one character of ASCII"));
        }
        let named: BTreeSet<&str> =
            columns.keys().chain(defaults.keys()).map(String::as_str).collect();
        for field in named.iter().filter(|field| !COLUMNS.contains(field)) {
            faults
                .push(format!("{id}: {field} is no field; the fields are {}", COLUMNS.join(", ")));
        }
        for field in ["name", "kind"].iter().filter(|field| !named.contains(*field)) {
            faults.push(format!("{id}: name the column of {field}, or its value in defaults"));
        }
        let has_position = named.contains("lat") && named.contains("lng");
        if !has_position && !named.contains("address") && !named.contains("place") {
            faults.push(format!("{id}: name the columns of lat and lng, of address, or of place"));
        }
        faults
    }
}
