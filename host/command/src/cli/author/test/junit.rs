//! The outcome of cases in the format of JUnit, for programs that show it.

use super::verdict::Verdict;
use anyhow::Context as _;
use quick_xml::{
    Writer,
    events::{BytesText, Event},
};
use std::{io, path::Path, time::Duration};

/// Writes the outcome of cases to a file.
pub(super) fn write(file: &Path, verdicts: &[Verdict]) -> anyhow::Result<()> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let result = document(&mut writer, verdicts);
    let result = result.and_then(|()| std::fs::write(file, writer.into_inner()));
    result.with_context(|| format!("cannot write {}", file.display()))
}

fn document(writer: &mut Writer<Vec<u8>>, verdicts: &[Verdict]) -> io::Result<()> {
    let failures = verdicts.iter().filter(|verdict| !verdict.passed()).count();
    let time: Duration = verdicts.iter().map(|verdict| verdict.time).sum();
    let suite = writer
        .create_element("testsuite")
        .with_attribute(("name", "portolan test"))
        .with_attribute(("tests", verdicts.len().to_string().as_str()))
        .with_attribute(("failures", failures.to_string().as_str()))
        .with_attribute(("time", seconds(time).as_str()));
    suite.write_inner_content(|writer| {
        verdicts.iter().try_for_each(|verdict| case(writer, verdict))
    })?;
    Ok(())
}

fn case(writer: &mut Writer<Vec<u8>>, verdict: &Verdict) -> io::Result<()> {
    let element = writer
        .create_element("testcase")
        .with_attribute(("name", verdict.name.as_str()))
        .with_attribute(("classname", verdict.location.to_string().as_str()))
        .with_attribute(("time", seconds(verdict.time).as_str()));
    if verdict.passed() {
        element.write_empty()?;
        return Ok(());
    }
    let text: String = verdict.differences.iter().map(ToString::to_string).collect();
    element.write_inner_content(|writer| {
        let failure = writer.create_element("failure").with_attribute(("message", "it differs"));
        failure
            .write_inner_content(|writer| writer.write_event(Event::Text(BytesText::new(&text))))?;
        Ok(())
    })?;
    Ok(())
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}
