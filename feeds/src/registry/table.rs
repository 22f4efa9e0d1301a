//! Reads a registry that is a table of CSV: the operator's file of sources names the column of each field.

use crate::{entries::Refused, sources::Registry, text::beginning};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// How many characters of a cell are read.
const MOST_CELL: usize = 10_000;
/// How many rows are read.
const MOST_ROWS: usize = 200_000;
/// The fields that are numbers, and those that are lists.
const NUMBERS: [&str; 3] = ["lat", "lng", "founded_year"];
const LISTS: [&str; 2] = ["industries", "tags"];

/// Returns the rows as entries of a registry, and the rows that could not be read.
pub(super) fn rows(
    bytes: &[u8],
    registry: &Registry,
) -> Result<(Vec<Value>, Vec<Refused>), String> {
    let delimiter = u8::try_from(registry.delimiter).map_err(|error| error.to_string())?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(registry.header)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(bytes);
    let positions = positions(&mut reader, registry)?;
    let (mut rows, mut refused) = (Vec::new(), Vec::new());
    for (at, record) in reader.records().enumerate().take(MOST_ROWS) {
        let refuse = |reason: String| Refused { entry: format!("row {at}"), id: None, reason };
        match record {
            Ok(record) => rows.push(entry(&record, &positions, registry)),
            Err(error) => refused.push(refuse(error.to_string())),
        }
    }
    Ok((rows, refused))
}

/// Returns the position of each field's column; the error names all columns that are not there.
fn positions(
    reader: &mut csv::Reader<&[u8]>,
    registry: &Registry,
) -> Result<BTreeMap<String, usize>, String> {
    let known: Vec<String> = match registry.header {
        true => {
            let header = reader.headers().map_err(|error| error.to_string())?;
            header.iter().map(str::to_lowercase).collect()
        }
        false => (1..=1_000).map(|number: usize| number.to_string()).collect(),
    };
    let (mut positions, mut missing) = (BTreeMap::new(), Vec::new());
    for (field, column) in &registry.columns {
        match known.iter().position(|name| *name == column.to_lowercase()) {
            Some(position) => {
                positions.insert(field.clone(), position);
            }
            None => missing.push(column.as_str()),
        }
    }
    match missing.is_empty() {
        true => Ok(positions),
        false => Err(format!("it has no column {}", missing.join(", "))),
    }
}

fn entry(
    record: &csv::StringRecord,
    positions: &BTreeMap<String, usize>,
    registry: &Registry,
) -> Value {
    let mut fields = Map::new();
    let cells = positions
        .iter()
        .filter_map(|(field, position)| Some((field, record.get(*position)?)))
        .filter(|(_, cell)| !cell.is_empty());
    for (field, cell) in cells {
        fields.insert(field.clone(), value(field, beginning(cell, MOST_CELL)));
    }
    for (field, default) in &registry.defaults {
        fields.entry(field.clone()).or_insert_with(|| value(field, default));
    }
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    let name = text("name").unwrap_or_default();
    let page = text("website").unwrap_or_else(|| registry.url.clone());
    fields.entry("slug").or_insert_with(|| slug(&name).into());
    fields.entry("url").or_insert_with(|| page.into());
    Value::Object(fields)
}

fn value(field: &str, cell: &str) -> Value {
    if NUMBERS.contains(&field) {
        // German and French tables write "37,77".
        let number: Option<f64> = cell.replace(',', ".").parse().ok();
        let whole = cell.parse::<u16>().ok().map(Value::from);
        return whole.or_else(|| number.map(Value::from)).unwrap_or_else(|| cell.into());
    }
    match LISTS.contains(&field) {
        true => {
            let items = cell.split([';', '|', ',']).map(str::trim);
            items.filter(|item| !item.is_empty()).collect::<Vec<_>>().into()
        }
        false => cell.into(),
    }
}

/// Returns a name in small letters and dashes.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for character in name.to_lowercase().chars().take(80) {
        match character.is_alphanumeric() {
            true => slug.push(character),
            false if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            false => {}
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry(more: &str) -> Registry {
        toml::from_str(&format!(
            "id = \"city\"\npublisher = \"City\"\nurl = \"https://city.example/firms.csv\"\nformat = \"csv\"\n{more}"
        ))
        .unwrap()
    }

    #[test]
    fn rows_become_entries() {
        let registry = registry(
            "delimiter = \";\"\n[columns]\nname = \"Company\"\nlat = \"Latitude\"\nlng = \"Longitude\"\ntags = \"Sectors\"\nwebsite = \"Web\"\n[defaults]\nkind = \"startup\"\n",
        );
        let table = "\u{feff}Company;LATITUDE;Longitude;Sectors;Web;Phone\n\
            \"Copperleaf; Robotics\";37,77;-122.42;robots, orchards;https://copperleaf.example;415-555-0142\n\
            Short row\n";
        let (rows, refused) = rows(table.as_bytes(), &registry).unwrap();
        assert_eq!(refused, []);
        assert_eq!(
            rows,
            [
                serde_json::json!({ "name": "Copperleaf; Robotics", "slug": "copperleaf-robotics", "lat": 37.77, "lng": -122.42,
                    "tags": ["robots", "orchards"], "website": "https://copperleaf.example", "url": "https://copperleaf.example", "kind": "startup" }),
                serde_json::json!({ "name": "Short row", "slug": "short-row", "url": "https://city.example/firms.csv", "kind": "startup" }),
            ]
        );
    }

    #[test]
    fn columns_are_numbers_if_there_is_no_header() {
        let registry = registry(
            "header = false\n[columns]\nname = \"2\"\nplace = \"1\"\n[defaults]\nkind = \"fund\"\n",
        );
        let (rows, _) = rows(b"Oakland,Harbour\n", &registry).unwrap();
        assert_eq!((&rows[0]["name"], &rows[0]["place"]), (&"Harbour".into(), &"Oakland".into()));
    }

    #[test]
    fn missing_columns_and_broken_rows_are_named() {
        let registry = registry("[columns]\nname = \"Company\"\nplace = \"Town\"\n");
        assert_eq!(rows(b"A,B\n", &registry).unwrap_err(), "it has no column Company, Town");
        let (found, refused) =
            rows(b"Company,Town\n\xff\xfe,X\nHarbour,Oakland\n", &registry).unwrap();
        assert_eq!((found.len(), refused.len()), (1, 1));
        assert!(rows(b"", &registry).is_err());
    }
}
