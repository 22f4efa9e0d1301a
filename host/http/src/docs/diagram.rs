//! The drawing of a state machine: its states from top to bottom in the order in which they are reached, and an arrow
//! for each change of state.
//!
//! Every arrow begins in a row of its own beside the box of its state, with the names of its actions above it. It
//! leads to the lane of the state where it ends, right of all texts, and along this lane to that state's box. So
//! neither boxes nor texts can meet, whatever the machine; only lines cross. All lengths are in pixels.

use askama::Template;
use portolan_vocabulary::StateMachine;
use std::collections::BTreeMap;

/// The largest machine that is drawn. The table beside the drawing has every machine.
const MAX_STATES: usize = 24;
const MAX_CHANGES: usize = 120;
/// The index of what is before an entity exists; the states follow it.
const NEW: usize = 0;
/// The width of a character, which is at least that of the font, and the height of a line.
const CHARACTER: usize = 8;
const LINE: usize = 16;
/// The characters of a line with names of actions, unless one name is longer.
const LABEL_CHARACTERS: usize = 28;
/// The space between the drawing and its edge, and between two boxes.
const EDGE: usize = 2;
const GAP: usize = 12;
/// The height of the part of a box with its name, and where arrows enter it.
const HEAD: usize = 28;
const ENTRY: usize = 14;
/// Where texts begin beside a box, and the distance of two lanes.
const INDENT: usize = 22;
const LANE: usize = 14;

/// The actions of each change, by its states.
type Changes<'a> = BTreeMap<(usize, usize), Vec<&'a str>>;

#[derive(Debug, Template)]
#[template(path = "docs/states.html")]
pub(super) struct Diagram<'a> {
    machine: &'a StateMachine,
    width: usize,
    height: usize,
    boxes: Vec<StateBox<'a>>,
    labels: Vec<Label>,
    arrows: Vec<Arrow>,
}

/// The box of a state.
#[derive(Debug)]
struct StateBox<'a> {
    name: &'a str,
    /// Whether it is no state, but what is before.
    is_new: bool,
    y: usize,
    width: usize,
    height: usize,
}

impl StateBox<'_> {
    fn x(&self) -> usize {
        EDGE
    }

    fn middle(&self) -> usize {
        EDGE + self.width / 2
    }

    /// Returns the base line of its name.
    fn base(&self) -> usize {
        self.y + 18
    }
}

/// A line of text with names of actions; `y` is its base line.
#[derive(Debug)]
struct Label {
    x: usize,
    y: usize,
    text: String,
}

/// An arrow, as data of paths: its line, and its head at the box where it ends.
#[derive(Debug)]
struct Arrow {
    line: String,
    head: String,
    /// Where it joins the lane of its end; `None` for an arrow that ends where it begins.
    joint: Option<(usize, usize)>,
}

/// A row beside a box, from which an arrow leaves.
#[derive(Debug)]
struct Row {
    from: usize,
    to: usize,
    top: usize,
    bottom: usize,
}

impl<'a> Diagram<'a> {
    /// Draws a machine, unless it is too large for a drawing or has no states.
    pub(super) fn of(machine: &'a StateMachine) -> Option<Self> {
        let changes = changes(machine);
        if machine.states.is_empty()
            || machine.states.len() > MAX_STATES
            || changes.len() > MAX_CHANGES
        {
            return None;
        }
        let width = box_width(machine);
        let mut drawing =
            Self { machine, width, height: EDGE, boxes: vec![], labels: vec![], arrows: vec![] };
        let mut rows = Vec::new();
        let mut entries = BTreeMap::new();
        for state in order(machine.states.len(), &changes) {
            entries.insert(state, drawing.height + ENTRY);
            let name = match state {
                NEW => "new",
                state => machine.states.get(state - 1).map_or("", String::as_str),
            };
            rows.extend(drawing.add_box(name, state, &changes));
        }
        drawing.height = drawing.height - GAP + EDGE;
        drawing.add_arrows(&rows, &entries);
        Some(drawing)
    }

    /// Adds the box of a state with the texts of the arrows that leave it, and returns their rows.
    fn add_box(&mut self, name: &'a str, state: usize, changes: &Changes<'_>) -> Vec<Row> {
        let (y, x) = (self.height, self.width + EDGE + INDENT);
        let mut bottom = y + HEAD;
        let mut rows = Vec::new();
        for ((from, to), actions) in changes.iter().filter(|((from, _), _)| *from == state) {
            let top = bottom;
            for text in lines(actions) {
                self.labels.push(Label { x, y: bottom + 13, text });
                bottom += LINE;
            }
            bottom += 8;
            rows.push(Row { from: *from, to: *to, top, bottom });
        }
        self.boxes.push(StateBox {
            name,
            is_new: state == NEW,
            y,
            width: self.width,
            height: bottom - y,
        });
        self.height = bottom + GAP;
        rows
    }

    /// Adds the arrow of each row, and makes room for them right of the texts.
    fn add_arrows(&mut self, rows: &[Row], entries: &BTreeMap<usize, usize>) {
        let right = self.width + EDGE;
        let longest = self.labels.iter().map(|label| label.text.chars().count()).max();
        let first_lane = right + INDENT + longest.unwrap_or_default() * CHARACTER + LANE;
        let lanes = lanes(rows, entries);
        self.width = first_lane + lanes.len() * LANE;
        for Row { from, to, top, bottom } in rows {
            let (begin, end) = match from == to {
                true => (top + 4, bottom - 8),
                false => (bottom - 6, entries.get(to).copied().unwrap_or_default()),
            };
            let lane = lanes.iter().position(|lane| lane == to).unwrap_or_default();
            let (turn, joint) = match from == to {
                true => (right + 12, None),
                false => (first_lane + lane * LANE, Some((first_lane + lane * LANE, begin))),
            };
            self.arrows.push(Arrow {
                line: format!("M{right} {begin}H{turn}V{end}H{}", right + 8),
                head: format!("M{right} {end}l9 -4v8z"),
                joint,
            });
        }
    }
}

/// Returns the width of every box of a machine: that of the longest name with some space.
fn box_width(machine: &StateMachine) -> usize {
    let longest = machine.states.iter().map(|name| name.chars().count()).max();
    longest.unwrap_or_default().max(6) * CHARACTER + 24
}

/// Returns the actions of each change of state. An action after which the state is the same changes a state to itself.
fn changes(machine: &StateMachine) -> Changes<'_> {
    let index_of = |name: &String| {
        let index = machine.states.iter().position(|state| state == name);
        index.map(|index| index + 1)
    };
    let mut changes = Changes::new();
    for transition in &machine.transitions {
        let from: Vec<usize> = match transition.from.is_empty() {
            true => vec![NEW],
            false => transition.from.iter().filter_map(index_of).collect(),
        };
        let to: Vec<usize> = transition.to.iter().filter_map(index_of).collect();
        for start in from {
            let ends = if to.is_empty() { vec![start] } else { to.clone() };
            for end in ends {
                let actions: &mut Vec<&str> = changes.entry((start, end)).or_default();
                if !actions.contains(&transition.action.as_str()) {
                    actions.push(&transition.action);
                }
            }
        }
    }
    changes
}

/// Returns the states in the order in which they are reached: those after fewer changes come first. States that
/// nothing reaches come last.
fn order(states: usize, changes: &Changes<'_>) -> Vec<usize> {
    let mut order = Vec::new();
    if changes.keys().any(|(from, _)| *from == NEW) {
        order.push(NEW);
    }
    let mut next = 0;
    loop {
        match order.get(next).copied() {
            Some(state) => {
                next += 1;
                for (_, to) in changes.keys().filter(|(from, _)| *from == state) {
                    if !order.contains(to) {
                        order.push(*to);
                    }
                }
            }
            None => match (1..=states).find(|state| !order.contains(state)) {
                Some(state) => order.push(state),
                None => return order,
            },
        }
    }
}

/// Returns the states that arrows from other states reach. The lanes of the shortest ways come first, so that fewer
/// lines cross.
fn lanes(rows: &[Row], entries: &BTreeMap<usize, usize>) -> Vec<usize> {
    let mut lanes: Vec<(usize, usize)> = Vec::new();
    for (state, entry) in entries {
        let arrows = rows.iter().filter(|row| row.to == *state && row.from != *state);
        if let Some(longest) = arrows.map(|row| row.bottom.abs_diff(*entry)).max() {
            lanes.push((longest, *state));
        }
    }
    lanes.sort_unstable();
    lanes.into_iter().map(|(_, state)| state).collect()
}

/// Returns the names of actions as lines.
fn lines(actions: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (index, action) in actions.iter().enumerate() {
        let separator = if index + 1 < actions.len() { "," } else { "" };
        let name = format!("{action}{separator}");
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + name.chars().count() <= LABEL_CHARACTERS => {
                line.push(' ');
                line.push_str(&name);
            }
            _ => lines.push(name),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_vocabulary::Transition;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Makes a machine of states and of transitions: an action with the states before and after it.
    fn machine(states: &[&str], transitions: &[(&str, &[&str], &[&str])]) -> StateMachine {
        let transition = |(action, from, to): &(&str, &[&str], &[&str])| Transition {
            action: (*action).to_owned(),
            from: owned(from),
            to: owned(to),
            role: None,
        };
        StateMachine {
            name: "listing".to_owned(),
            states: owned(states),
            transitions: transitions.iter().map(transition).collect(),
        }
    }

    fn listing() -> StateMachine {
        let states = ["draft", "active", "paused", "in_review", "withdrawn", "lost"];
        machine(
            &states,
            &[
                ("create", &[], &["draft", "active", "in_review"]),
                ("update", &["draft", "paused"], &[]),
                ("publish", &["draft"], &["active", "in_review"]),
                ("pause", &["active"], &["paused"]),
                ("resume", &["paused"], &["active"]),
                ("withdraw", &["draft", "active", "paused"], &["withdrawn"]),
                ("on_organisation_changed_somehow", &["active"], &["paused"]),
                ("on_owner_deactivated", &["active"], &["paused"]),
            ],
        )
    }

    /// Returns whether two stretches have more than their ends in common.
    fn meet((begin, end): (usize, usize), (other_begin, other_end): (usize, usize)) -> bool {
        begin < other_end && other_begin < end
    }

    fn assert_nothing_overlaps(drawing: &Diagram<'_>) {
        for (index, one) in drawing.boxes.iter().enumerate() {
            assert!(one.name.len() * CHARACTER < one.width, "{one:?}");
            assert!(one.x() + one.width < drawing.width && one.y + one.height < drawing.height);
            for other in &drawing.boxes[index + 1..] {
                let stretches = [one, other].map(|found| (found.y, found.y + found.height));
                assert!(!meet(stretches[0], stretches[1]), "{one:?} {other:?}");
            }
        }
        let right = drawing.boxes[0].x() + drawing.boxes[0].width;
        let lanes = drawing.arrows.iter().filter_map(|arrow| arrow.joint).map(|(x, _)| x);
        let first_lane = lanes.min().unwrap_or(drawing.width);
        for (index, one) in drawing.labels.iter().enumerate() {
            assert!(one.x > right && one.x + one.text.len() * CHARACTER < first_lane, "{one:?}");
            for other in &drawing.labels[index + 1..] {
                let stretches = [one, other].map(|found| (found.y - 13, found.y + 3));
                assert!(!meet(stretches[0], stretches[1]), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn neither_boxes_nor_texts_overlap() {
        assert_nothing_overlaps(&Diagram::of(&listing()).unwrap());
        // Ten states, each of which leads to each.
        let names: Vec<String> = (0..10).map(|number| format!("state_{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let whole = machine(&names, &[("go", &names[..], &names[..]), ("begin", &[], &names[..1])]);
        let drawing = Diagram::of(&whole).unwrap();
        assert_eq!(drawing.arrows.len(), 101);
        assert_nothing_overlaps(&drawing);
    }

    #[test]
    fn each_change_has_an_arrow_from_its_box_to_another() {
        let listing = listing();
        let drawing = Diagram::of(&listing).unwrap();
        let changes = changes(&listing);
        assert_eq!(drawing.arrows.len(), changes.len());
        let right = drawing.boxes[0].x() + drawing.boxes[0].width;
        let start = format!("M{right} ");
        let state_at = |y: usize| {
            let found =
                drawing.boxes.iter().find(|found| (found.y..found.y + found.height).contains(&y));
            found.unwrap().name
        };
        let mut drawn: Vec<(&str, &str)> = Vec::new();
        for arrow in &drawing.arrows {
            let rest = arrow.line.strip_prefix(&start).unwrap();
            let (begin, rest) = rest.split_once('H').unwrap();
            let end = rest.split_once('V').unwrap().1.split_once('H').unwrap().0;
            assert!(arrow.head.starts_with(&format!("M{right} {end}l")), "{arrow:?}");
            drawn.push((state_at(begin.parse().unwrap()), state_at(end.parse().unwrap())));
        }
        let name = |state: usize| match state {
            NEW => "new",
            state => listing.states[state - 1].as_str(),
        };
        let mut declared: Vec<(&str, &str)> =
            changes.keys().map(|(from, to)| (name(*from), name(*to))).collect();
        drawn.sort_unstable();
        declared.sort_unstable();
        assert_eq!(drawn, declared);
        let texts: String = drawing.labels.iter().map(|label| label.text.as_str()).collect();
        assert!(listing.transitions.iter().all(|transition| texts.contains(&transition.action)));
    }

    #[test]
    fn states_come_in_the_order_in_which_they_are_reached() {
        let listing = listing();
        let drawing = Diagram::of(&listing).unwrap();
        let names: Vec<&str> = drawing.boxes.iter().map(|found| found.name).collect();
        assert_eq!(names, ["new", "draft", "active", "in_review", "withdrawn", "paused", "lost"]);
    }

    #[test]
    fn texts_are_escaped() {
        let hostile = machine(&["<b>"], &[("<script>", &[], &["<b>"]), ("\"'&", &["<b>"], &[])]);
        let text = Diagram::of(&hostile).unwrap().render().unwrap();
        assert!(text.contains("&#60;b&#62;") && text.contains("&#60;script&#62;"), "{text}");
        assert!(!text.contains("<b>") && !text.contains("<script") && !text.contains("\"'&"));
        for part in ["role=\"img\"", "<title ", "<desc "] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("style="), "{text}");
    }

    #[test]
    fn what_is_too_large_is_not_drawn() {
        let names: Vec<String> = (0..MAX_STATES).map(|number| format!("s{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(Diagram::of(&machine(&names, &[("go", &[], &names[..])])).is_some());
        assert!(Diagram::of(&machine(&names, &[("go", &names[..], &names[..])])).is_none());
        assert!(Diagram::of(&machine(&[&names[..], &["more"]].concat(), &[])).is_none());
        assert!(Diagram::of(&machine(&[], &[])).is_none());
    }
}
