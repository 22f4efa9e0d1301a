//! Other forms of a feed: a record in each line as JSON, and a table as CSV.

use crate::{parts::Parts, record::Feed};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A form in which a feed is served besides its document.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// The end of the file name, in place of `json`.
    ending: &'static str,
    pub media_type: &'static str,
    /// Makes the form of the document with this file name and these bytes.
    pub make: fn(&str, &[u8]) -> serde_json::Result<Vec<u8>>,
}

pub const FORMS: [Form; 2] = [
    Form { ending: "ndjson", media_type: "application/x-ndjson", make: ndjson },
    Form { ending: "csv", media_type: "text/csv; charset=utf-8", make: csv },
];

impl Form {
    /// Returns the file name of the form of a feed.
    pub fn file(&self, feed: &Feed) -> String {
        let stem = feed.file.strip_suffix("json").unwrap_or(feed.file);
        format!("{stem}{}", self.ending)
    }
}

/// How deep objects are spread over columns; what is deeper is a cell of JSON.
const DEEPEST: usize = 4;
/// How many columns a table has at most; what has no column is left out.
const MOST_COLUMNS: usize = 200;
/// The schema.org form of a role repeats its other fields.
const REPEATED: &str = "schema_org";
/// Between the values of a list.
const BETWEEN: &str = "; ";
/// A text that begins with one of these is a formula to spreadsheets.
const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];
/// Characters without a width, which may precede it.
const INVISIBLE: [char; 7] =
    ['\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{200e}', '\u{200f}', '\u{feff}'];

/// Returns the records of a document, each in a line.
pub fn ndjson(file: &str, bytes: &[u8]) -> serde_json::Result<Vec<u8>> {
    let parts = Parts::of(file, bytes)?;
    let mut lines = Vec::with_capacity(bytes.len());
    for record in parts.records {
        lines.extend_from_slice(record.get().as_bytes());
        lines.push(b'\n');
    }
    Ok(lines)
}

/// Returns the records of a document as a table (RFC 4180). Fields of objects are columns such as
/// `base_salary.min`, lists of texts are one cell, other lists are JSON.
pub fn csv(file: &str, bytes: &[u8]) -> serde_json::Result<Vec<u8>> {
    let parts = Parts::of(file, bytes)?;
    // The columns of all records are known only when all were read, so they are parsed twice.
    let mut columns = Columns::default();
    for record in &parts.records {
        let fields: Map<String, Value> = serde_json::from_str(record.get())?;
        spread("", &fields, 1, &mut |name, _| columns.add(name));
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = |error: csv::Error| serde_json::Error::io(error.into());
    writer.write_record(&columns.names).map_err(written)?;
    for record in &parts.records {
        let fields: Map<String, Value> = serde_json::from_str(record.get())?;
        let mut cells = vec![String::new(); columns.names.len()];
        spread("", &fields, 1, &mut |name, value| {
            let place = columns.places.get(name).and_then(|at| cells.get_mut(*at));
            if let Some(place) = place {
                *place = cell(value);
            }
        });
        writer.write_record(&cells).map_err(written)?;
    }
    writer.into_inner().map_err(|error| serde_json::Error::io(error.into_error()))
}

/// The columns of a table, in the order in which they were first seen.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl Columns {
    fn add(&mut self, name: &str) {
        if self.names.len() < MOST_COLUMNS && !self.places.contains_key(name) {
            self.places.insert(name.to_owned(), self.names.len());
            self.names.push(name.to_owned());
        }
    }
}

/// Visits the fields of an object and of the objects in it. It calls itself at most `DEEPEST` times.
fn spread(
    prefix: &str,
    fields: &Map<String, Value>,
    depth: usize,
    visit: &mut dyn FnMut(&str, &Value),
) {
    for (name, value) in fields.iter().filter(|(name, _)| *name != REPEATED) {
        let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Object(inner) if depth < DEEPEST => spread(&name, inner, depth + 1, visit),
            value => visit(&name, value),
        }
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => harmless(text.clone()),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            harmless(texts.join(BETWEEN))
        }
        value => value.to_string(),
    }
}

/// Returns a text that no spreadsheet takes for a formula: what begins like one is behind an apostrophe.
fn harmless(text: String) -> String {
    let precedes = |letter: char| letter.is_whitespace() || INVISIBLE.contains(&letter);
    let text_begins =
        text.trim_start_matches(|letter| precedes(letter) && !FORMULA.contains(&letter));
    match text_begins.starts_with(FORMULA) {
        true => format!("'{text}"),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "sf-people.json";

    fn document(records: &str) -> Vec<u8> {
        format!("{{\"_meta\":{{}},\"items\":[{records}]}}\n").into_bytes()
    }

    fn table(records: &str) -> String {
        String::from_utf8(csv(FILE, &document(records)).unwrap()).unwrap()
    }

    #[test]
    fn a_record_is_a_line() {
        let lines =
            ndjson(FILE, &document("{\"id\":\"a\", \"x\":\"\\n\"},{\"id\":\"b\"}")).unwrap();
        assert_eq!(
            String::from_utf8(lines).unwrap(),
            "{\"id\":\"a\", \"x\":\"\\n\"}\n{\"id\":\"b\"}\n"
        );
        assert!(ndjson(FILE, b"{").is_err());
        assert!(ndjson(FILE, &document("")).unwrap().is_empty());
    }

    #[test]
    fn a_record_is_a_row() {
        let rows = table(
            r#"{"id":"a","pay":{"min":-1.5,"unit":"YEAR"},"tags":["x","y"],"schema_org":{"title":"A"}},
               {"id":"b","more":[{"n":1}],"deep":{"a":{"b":{"c":{"d":1}}}},"open":true}"#,
        );
        assert_eq!(
            rows,
            "id,pay.min,pay.unit,tags,more,deep.a.b.c,open\na,-1.5,YEAR,x; y,,,\n\
             b,,,,\"[{\"\"n\"\":1}]\",\"{\"\"d\"\":1}\",true\n"
        );
    }

    #[test]
    fn no_cell_is_a_formula_and_none_breaks_its_row() {
        let formulas = [
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            " =1",
            "＝1",
            "＠1",
            "＋cmd|x",
            "－1",
            "\u{a0}=1",
            "\u{3000}\n=1",
            "\u{feff}=1",
            "\u{200b}\u{a0}＋1",
            "\u{b}@1",
        ];
        let texts = ["a\",\"b", "a\nb", "a=1", "\u{a0}a", "1-2"];
        let all = formulas.map(|text| (text, format!("'{text}"))).into_iter();
        for (text, expected) in all.chain(texts.map(|text| (text, text.to_owned()))) {
            let rows = table(&serde_json::json!({ "id": text, "list": [text] }).to_string());
            let mut reader = csv::Reader::from_reader(rows.as_bytes());
            let row = reader.records().next().unwrap().unwrap();
            assert_eq!(row.iter().collect::<Vec<_>>(), [&expected, &expected], "{text:?}");
        }
    }

    #[test]
    fn the_number_of_columns_is_bounded() {
        let fields: Vec<String> = (0..1_000).map(|at| format!("\"f{at}\":{at}")).collect();
        let rows = table(&format!("{{{}}}", fields.join(",")));
        assert_eq!(rows.lines().next().unwrap().split(',').count(), MOST_COLUMNS);
    }
}
