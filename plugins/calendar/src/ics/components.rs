//! Components of iCalendar: everything between `BEGIN` and `END`.

use crate::{ics::lines::*, limits::DEEPEST, refusals::*};

/// A component of a calendar, such as an event, without its nested components.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) kind: String,
    /// The line of its `BEGIN`.
    pub(crate) line: u32,
    pub(crate) properties: Vec<Line>,
}

impl Component {
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &Line> {
        self.properties.iter().filter(move |line| line.name == name)
    }

    pub(crate) fn property(&self, name: &str) -> Option<&Line> {
        self.all(name).next()
    }

    /// Returns the property of this name; an error if there are several.
    pub(crate) fn single(&self, name: &str) -> Result<Option<&Line>> {
        let mut found = self.all(name);
        match (found.next(), found.next()) {
            (_, Some(second)) => Err(second.wrong("once", "this property once")),
            (first, None) => Ok(first),
        }
    }

    /// Makes the refusal of a component without a property that it needs.
    pub(crate) fn lacks(&self, property: &'static str) -> CalendarError {
        CalendarError::in_line(self.line, "required", property)
    }
}

/// Reads the components of a file's calendars, and the properties of the calendars themselves.
pub(crate) fn read(lines: Vec<Line>) -> Result<(Vec<Line>, Vec<Component>)> {
    let wrong = |line, expected| Err(CalendarError::in_line(line, "component", expected));
    let (mut own, mut components) = (Vec::new(), Vec::<Component>::new());
    let (mut open, mut last) = (Vec::new(), 1);
    for line in lines {
        last = line.number;
        match (line.name.as_str(), open.len()) {
            ("BEGIN", depth) => {
                let kind = line.value.trim().to_ascii_uppercase();
                if (kind == "VCALENDAR") != (depth == 0) {
                    return wrong(
                        last,
                        "BEGIN:VCALENDAR around all components, and not within a calendar",
                    );
                }
                if depth == DEEPEST {
                    return wrong(last, "fewer components within components");
                }
                if depth == 1 {
                    let (kind, properties) = (kind.clone(), Vec::new());
                    components.push(Component { kind, line: last, properties });
                }
                open.push(kind);
            }
            ("END", _) => {
                let kind = line.value.trim().to_ascii_uppercase();
                if open.pop() != Some(kind) {
                    return wrong(last, "the END of the component that began last");
                }
            }
            (_, 0) => return wrong(last, "BEGIN:VCALENDAR"),
            (_, 1) => own.push(line),
            (_, 2) => {
                if let Some(component) = components.last_mut() {
                    component.properties.push(line);
                }
            }
            // Properties of alarms and of the parts of time zones are not needed.
            _ => {}
        }
    }
    match (open.is_empty(), own.is_empty() && components.is_empty()) {
        (true, false) => Ok((own, components)),
        (true, true) => wrong(last, "a calendar"),
        (false, _) => wrong(last, "an END for each BEGIN"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ics::lines;

    fn kinds(text: &str) -> Result<Vec<String>, u32> {
        let lines = lines::read(text).unwrap();
        match read(lines) {
            Ok((_, found)) => Ok(found.into_iter().map(|component| component.kind).collect()),
            Err(CalendarError::IcsInvalid { fault }) => Err(fault.line.unwrap()),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn components_are_found_and_end() {
        let alarm = "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:vevent\nBEGIN:VALARM\nUID:x\nEND:VALARM\n\
            UID:y\nEND:VEVENT\nEND:VCALENDAR";
        assert_eq!(kinds(alarm), Ok(vec!["VEVENT".to_owned()]));
        let found = read(lines::read(alarm).unwrap()).unwrap().1;
        assert_eq!(found[0].single("UID").unwrap().unwrap().value, "y");
        let two = "BEGIN:VCALENDAR\nX:1\nEND:VCALENDAR\nBEGIN:VCALENDAR\nEND:VCALENDAR";
        assert_eq!(kinds(two), Ok(vec![]));
        for (text, line) in [
            ("X:1", 1),
            ("BEGIN:VEVENT\nEND:VEVENT", 1),
            ("BEGIN:VCALENDAR\nBEGIN:VCALENDAR", 2),
            ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR", 3),
            ("BEGIN:VCALENDAR\nX:1", 2),
            ("END:VCALENDAR", 1),
            ("BEGIN:VCALENDAR\nEND:VCALENDAR", 2),
            ("BEGIN:VCALENDAR\nX:1\nEND:VCALENDAR\nY:1", 4),
        ] {
            assert_eq!(kinds(text), Err(line), "{text:?}");
        }
        let deep = format!("BEGIN:VCALENDAR\n{}", "BEGIN:X\n".repeat(30_000));
        assert_eq!(kinds(&deep), Err(9));
    }
}
