//! The files of cases: each has one case, or a list of them.

use super::{case::Case, pattern::updated_pattern};
use anyhow::Context as _;
use serde_json::{Map, Value};
use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

/// A file with its cases.
#[derive(Debug)]
pub(super) struct CaseFile {
    path: PathBuf,
    /// The position among the files.
    number: usize,
    cases: Vec<Case>,
    json: Value,
    changed: bool,
}

/// The place of a case in its file.
#[derive(Debug, Clone)]
pub(super) struct CaseLocation {
    /// The position of the case's file among the files, and the position of the case in that file.
    pub(super) file: usize,
    pub(super) index: usize,
    path: PathBuf,
}

impl fmt::Display for CaseLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.path.display())
    }
}

/// Reads the cases of a folder, in the order of the names of their files.
pub(super) fn read(folder: &Path) -> anyhow::Result<Vec<CaseFile>> {
    let entries = fs::read_dir(folder).with_context(|| {
        format!("cannot read the cases in {}; name their folder with --cases", folder.display())
    })?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .with_context(|| format!("cannot read {}", folder.display()))?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    anyhow::ensure!(!paths.is_empty(), "{} has no file *.json", folder.display());
    paths.into_iter().enumerate().map(|(number, path)| CaseFile::read(number, path)).collect()
}

impl CaseFile {
    fn read(number: usize, path: PathBuf) -> anyhow::Result<Self> {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {name}"))?;
        let json: Value =
            serde_json::from_str(&text).with_context(|| format!("{name} is not JSON"))?;
        let list = match &json {
            Value::Array(cases) => cases.clone(),
            case => vec![case.clone()],
        };
        let cases = list.into_iter().enumerate().map(|(index, value)| {
            let title = value.get("name").and_then(Value::as_str).map(str::to_owned);
            let title = title.unwrap_or_else(|| format!("number {}", index + 1));
            let case: Case = serde_json::from_value(value)
                .with_context(|| format!("{name}: the case {title:?} cannot be read"))?;
            match case.fault() {
                Some(fault) => anyhow::bail!("{name}: the case {title:?}: {fault}"),
                None => Ok(case),
            }
        });
        let cases = cases.collect::<anyhow::Result<_>>()?;
        Ok(Self { path, number, cases, json, changed: false })
    }

    pub(super) fn cases(&self) -> impl Iterator<Item = (CaseLocation, &Case)> {
        self.cases.iter().enumerate().map(|(index, case)| {
            let location = CaseLocation { file: self.number, index, path: self.path.clone() };
            (location, case)
        })
    }

    /// Returns the documents that the cases begin with, with the collections that they are in.
    pub(super) fn documents(&self) -> impl Iterator<Item = (&str, &Value)> + Clone {
        let cases = match &self.json {
            Value::Array(cases) => cases.as_slice(),
            case => std::slice::from_ref(case),
        };
        let initial = cases.iter().filter_map(|case| case.get("before")?.as_object());
        initial.flatten().flat_map(|(name, documents)| {
            documents
                .as_array()
                .into_iter()
                .flatten()
                .map(move |document| (name.as_str(), document))
        })
    }

    /// Records the actual outcome in a case: the parts that the case expects, or all parts if it expects
    /// none.
    pub(super) fn record(&mut self, index: usize, actual: &Map<String, Value>) {
        let is_unrecorded = self.cases.get(index).is_some_and(|case| case.is_unrecorded());
        let json = match &mut self.json {
            Value::Array(cases) => cases.get_mut(index),
            case => Some(case),
        };
        let Some(Value::Object(json)) = json else { return };
        for (part, actual) in actual {
            match json.get_mut(part) {
                Some(pattern) => *pattern = updated_pattern(pattern, actual),
                None if is_unrecorded => drop(json.insert(part.clone(), actual.clone())),
                None => {}
            }
        }
        self.changed = true;
    }

    /// Writes the file if a case has changed.
    pub(super) fn write(&self) -> anyhow::Result<()> {
        if !self.changed {
            return Ok(());
        }
        let text = format!("{:#}\n", self.json);
        fs::write(&self.path, text).with_context(|| format!("cannot write {}", self.path.display()))
    }
}
