//! Components of iCalendar: everything between `BEGIN` and `END`.

use crate::{ics::lines::*, limits::DEEPEST, refusals::*};

/// A component of a calendar, such as an event.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) kind: String,
    /// The line of its `BEGIN`.
    pub(crate) line: u32,
    pub(crate) properties: Vec<Line>,
    /// The parts of a time zone. Those of other components, such as alarms, are not needed.
    pub(crate) parts: Vec<Component>,
}

impl Component {
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &Line> {
        self.properties.iter().filter(move |line| line.name == name)
    }

    /// Returns the first property of this name that could be parsed.
    pub(crate) fn property(&self, name: &str) -> Option<&Line> {
        self.all(name).find(|line| line.fault.is_none())
    }

    /// Returns the property of this name; an error if there are several, or if it could not be
    /// parsed.
    pub(crate) fn single(&self, name: &str) -> Result<Option<&Line>> {
        let mut found = self.all(name);
        match (found.next(), found.next()) {
            (_, Some(second)) => Err(second.wrong("once", "this property once")),
            (first, None) => first.map(Line::sound).transpose(),
        }
    }

    /// Returns the component that a property at this depth within it belongs to.
    fn innermost(&mut self, depth: usize) -> Option<&mut Self> {
        match depth {
            0 => Some(self),
            1 if self.kind == "VTIMEZONE" => self.parts.last_mut(),
            _ => None,
        }
    }

    fn new(kind: &str, line: u32) -> Self {
        Self { kind: kind.to_owned(), line, properties: Vec::new(), parts: Vec::new() }
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
                match (depth, components.last_mut()) {
                    (1, _) => components.push(Component::new(&kind, last)),
                    (2, Some(outer)) => outer.parts.push(Component::new(&kind, last)),
                    _ => {}
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
            (_, depth) => {
                let outer = components.last_mut();
                if let Some(inner) = outer.and_then(|outer| outer.innermost(depth - 2)) {
                    inner.properties.push(line);
                }
            }
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
        let zone = "BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:x\nBEGIN:STANDARD\nTZOFFSETTO:+0100\n\
            END:STANDARD\nEND:VTIMEZONE\nEND:VCALENDAR";
        let found = read(lines::read(zone).unwrap()).unwrap().1;
        assert_eq!(found[0].parts[0].single("TZOFFSETTO").unwrap().unwrap().value, "+0100");
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
