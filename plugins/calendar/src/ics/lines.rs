//! Unfolds and parses the content lines of a file.

use crate::refusals::*;

/// One property of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// The number of its first line in the file, from 1.
    pub(crate) number: u32,
    /// The name in upper case, as are the names of parameters.
    pub(crate) name: String,
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) value: String,
    /// The expected form, if the line cannot be parsed. Only its name is known then.
    pub(crate) fault: Option<&'static str>,
}

/// The maximum number of parameters of one property.
const MOST_PARAMETERS: usize = 50;

impl Line {
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Makes the refusal of a file with an error in this property.
    pub(crate) fn wrong(&self, rule: &'static str, expected: &'static str) -> CalendarError {
        CalendarError::in_line(self.number, rule, expected)
    }

    /// Whether the value is this word, in upper or lower case.
    pub(crate) fn has_value(&self, word: &str) -> bool {
        self.value.trim().eq_ignore_ascii_case(word)
    }

    /// Returns the items of a value that is a list, without empty ones.
    pub(crate) fn items(&self) -> impl Iterator<Item = &str> {
        self.value.split(',').map(str::trim).filter(|item| !item.is_empty())
    }

    /// Returns the line, or an error if it cannot be parsed.
    pub(crate) fn sound(&self) -> Result<&Self> {
        self.fault.map_or(Ok(self), |expected| Err(self.wrong("content_line", expected)))
    }

    fn read(number: u32, text: &str) -> Self {
        Self::parse(number, text).unwrap_or_else(|expected| {
            let name: String = text.chars().take_while(|letter| is_of_name(*letter)).collect();
            let (name, value) = (name.to_ascii_uppercase(), String::new());
            Self { number, name, parameters: Vec::new(), value, fault: Some(expected) }
        })
    }

    fn parse(number: u32, text: &str) -> Result<Self, &'static str> {
        if text.contains(|letter: char| letter.is_control() && letter != '\t') {
            return Err("no control characters");
        }
        let end = text.find([';', ':']).ok_or("a name, a colon and a value")?;
        let (name, mut rest) = text.split_at_checked(end).unwrap_or_default();
        if name.is_empty() || !name.chars().all(is_of_name) {
            return Err("a name of letters, digits and hyphens");
        }
        let mut parameters = Vec::new();
        while let Some(parameter) = rest.strip_prefix(';') {
            let (name, values) = parameter.split_once('=').ok_or("parameters as NAME=value")?;
            let (value, mut after) = one_value(values).ok_or("a value")?;
            // Only the first of several values is kept, because no parameter that is read has
            // several.
            while let Some(others) = after.strip_prefix(',') {
                (_, after) = one_value(others).ok_or("a value")?;
            }
            rest = after;
            parameters.push((name.to_ascii_uppercase(), value.to_owned()));
            if parameters.len() > MOST_PARAMETERS {
                return Err("fewer parameters");
            }
        }
        let value = rest.strip_prefix(':').ok_or("a value")?.to_owned();
        Ok(Self { number, name: name.to_ascii_uppercase(), parameters, value, fault: None })
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-'
}

/// Splits off one value of a parameter; returns `None` if nothing ends the value.
fn one_value(text: &str) -> Option<(&str, &str)> {
    match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"'),
        None => text.split_at_checked(text.find([',', ';', ':'])?),
    }
}

/// Reads the lines of a file, which end in CRLF or in LF alone.
pub(crate) fn read(text: &str) -> Result<Vec<Line>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parse = |(number, line): (u32, String)| Line::read(number, &line);
    let (mut lines, mut unfolded) = (Vec::new(), None::<(u32, String)>);
    for (number, line) in (1..).zip(text.split('\n')) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        match (line.strip_prefix([' ', '\t']), &mut unfolded) {
            (Some(more), Some((_, line))) => line.push_str(more),
            (Some(more), None) if more.trim().is_empty() => {}
            (Some(_), None) => {
                return Err(CalendarError::in_line(
                    number,
                    "content_line",
                    "a line before this one, which this line continues",
                ));
            }
            (None, _) => {
                let next = (!line.is_empty()).then(|| (number, line.to_owned()));
                let done = std::mem::replace(&mut unfolded, next);
                lines.extend(done.map(parse));
            }
        }
    }
    lines.extend(unfolded.map(parse));
    Ok(lines)
}

/// Returns a TEXT value without its escapes.
pub(crate) fn unescaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        let meant = if letter == '\\' { letters.next() } else { Some(letter) };
        let is_break = letter == '\\' && matches!(meant, Some('n' | 'N'));
        text.extend(if is_break { Some('\n') } else { meant });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use people_kit::ics::write::{WIDTH, Writer};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn written_files_are_read_again(value in "[^\\x00-\\x1f\\x7f-\\u{9f}]{0,200}", breaks in 0..3_usize) {
            let value = format!("{value}{}", "\n".repeat(breaks));
            let mut writer = Writer::default();
            writer.text("SUMMARY", &value);
            let text = writer.into_inner();
            prop_assert!(text.ends_with("\r\n"));
            prop_assert!(text.split("\r\n").all(|line| line.len() <= WIDTH));
            prop_assert!(!text.replace("\r\n", "").contains(['\r', '\n']));
            let lines = read(&text).unwrap();
            prop_assert_eq!(lines.len(), 1);
            prop_assert_eq!(unescaped(&lines[0].value), value);
        }
    }

    fn one(text: &str) -> Line {
        let lines = read(text).unwrap();
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines.into_iter().next().unwrap()
    }

    #[test]
    fn lines_are_unfolded_and_parsed() {
        let text = "\u{feff}dtstart;X-A=\"a;b:c\";tzid=\r\n Europe/\n\tBerlin:20261101T090000\r\n";
        let line = one(text);
        assert_eq!((line.number, line.name.as_str()), (1, "DTSTART"));
        assert_eq!(line.parameter("TZID"), Some("Europe/Berlin"));
        assert_eq!(line.parameter("X-A"), Some("a;b:c"));
        assert_eq!(line.value, "20261101T090000");
        assert_eq!(one("ATTENDEE;MEMBER=\"a:b\",\"c:d\";CN=x:mailto:x").parameter("CN"), Some("x"));
        assert_eq!(one("SUMMARY:").value, "");
        assert_eq!(one("SUMMARY:a:b;c").value, "a:b;c");
        // A line is joined again if a character of several bytes follows the fold.
        assert_eq!(one("SUMMARY:d\n é").value, "dé");
        let lines = read("A:1\n\nB:2\n x\nC:3\n").unwrap();
        assert!(lines.iter().map(|line| line.number).eq([1, 3, 5]));
        assert_eq!(unescaped(r"a\, b\; c\\ d\ne\"), "a, b; c\\ d\ne");
    }

    #[test]
    fn a_fault_has_its_line_number() {
        for (text, line) in [
            ("A:1\nnonsense", 2),
            ("A:1\n:x", 2),
            ("A B:x", 1),
            ("A;B:x", 1),
            ("A;B=\"x:y", 1),
            ("A;B=x", 1),
            ("A;B=\"x\"y:z", 1),
            ("A:\0", 1),
            ("A:1\nB:\u{7}", 2),
            ("A:1\r\rB", 1),
        ] {
            let lines = read(text).unwrap();
            let faulty = lines.iter().find(|line| line.fault.is_some());
            assert_eq!(faulty.map(|faulty| faulty.number), Some(line), "{text:?}");
        }
        assert_eq!(one("dtstart;TZID=\"x:20990105T100000Z").name, "DTSTART");
        let many = format!("A{}:x", ";B=1".repeat(51));
        assert!(one(&many).fault.is_some());
        let Err(CalendarError::IcsInvalid { fault }) = read(" x") else { panic!() };
        assert_eq!(fault.line, Some(1));
        let folded = format!("A:{}", "\n x".repeat(80_000));
        assert_eq!(one(&folded).value.len(), 80_000);
    }
}
