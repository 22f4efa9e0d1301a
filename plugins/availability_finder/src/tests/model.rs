//! The search is compared with one that tries each time by itself.

use super::{CELL, Calendars, NOW, Numbers, at, found, group, person, world};
use crate::search::{Fit, Sought, Who, best};
use portolan_sdk::prelude::*;

/// Finds the same as `best`, by definition: each start is tried for each person in each cell, and the best one
/// that overlaps none before it is taken, again and again.
fn tried(closed: &[Vec<bool>], sought: &Sought) -> Vec<Fit> {
    let cells = closed[0].len();
    let can = |row: &[bool], start: usize| {
        start >= sought.before
            && start + sought.length + sought.after <= cells
            && (start - sought.before..start + sought.length + sought.after).all(|cell| !row[cell])
    };
    let suits = |start: usize| {
        let cannot = closed.iter().filter(|row| !can(row, start)).count();
        match sought.who {
            Who::One => (cannot < closed.len()).then_some(0),
            Who::AllBut(missing) => (can(&closed[0], start) && cannot <= missing).then_some(cannot),
        }
    };
    let mut left: Vec<Fit> =
        (0..cells).filter_map(|cell| Some(Fit { cannot: suits(cell)?, cell })).collect();
    let mut chosen = Vec::new();
    while chosen.len() < sought.most {
        let Some(next) = left.iter().copied().min_by_key(|fit| (fit.cannot, fit.cell)) else {
            break;
        };
        left.retain(|fit| fit.cell.abs_diff(next.cell) >= sought.length);
        chosen.push(next);
    }
    chosen
}

#[test]
fn the_search_finds_what_trying_each_time_finds() {
    let mut numbers = Numbers(0x5EED_0001);
    let mut draw = |end: u64| usize::try_from(numbers.below(end)).unwrap();
    let mut answered = 0;
    for _ in 0..2_000 {
        let people = 2 + draw(19);
        let cells = 1 + draw(200);
        let row = |draw: &mut dyn FnMut(u64) -> usize| {
            let mut row = vec![false; cells];
            for _ in 0..draw(6) {
                let (from, length) = (draw(cells as u64), draw(30));
                row.iter_mut().skip(from).take(length).for_each(|cell| *cell = true);
            }
            row
        };
        let closed: Vec<_> = (0..people).map(|_| row(&mut draw)).collect();
        let who = if draw(4) == 0 { Who::One } else { Who::AllBut(draw(4)) };
        let (length, before, after) = (1 + draw(8), draw(3), draw(3));
        let sought = Sought { length, before, after, who, most: 1 + draw(10) };
        let found = best(&closed, &sought, |_| true);
        assert_eq!(found, tried(&closed, &sought), "{sought:?} {closed:?}");
        answered += found.len();
    }
    assert!(answered > 1_000, "the calendars leave times: {answered}");
}

#[test]
fn the_answer_does_not_depend_on_who_of_the_others_cannot() {
    let mut numbers = Numbers(0x5EED_0002);
    for _ in 0..500 {
        let people = 3 + usize::try_from(numbers.below(18)).unwrap();
        let row = |numbers: &mut Numbers| (0..96).map(|_| numbers.below(9) == 0).collect();
        let mut closed: Vec<Vec<bool>> = (0..people).map(|_| row(&mut numbers)).collect();
        let sought = Sought { length: 2, before: 0, after: 1, who: Who::AllBut(3), most: 10 };
        let before = best(&closed, &sought, |_| true);
        // The others change their calendars with each other.
        closed[1..].rotate_left(1);
        closed[1..].reverse();
        assert_eq!(best(&closed, &sought, |_| true), before);
    }
}

#[test]
fn find_answers_what_trying_each_time_answers() {
    let mut numbers = Numbers(0x5EED_0003);
    for _ in 0..60 {
        let people = 2 + usize::try_from(numbers.below(19)).unwrap();
        let calendars = Calendars::default();
        for number in 0..people {
            let span = |numbers: &mut Numbers| {
                let begins = NOW + numbers.below(14 * 24 * 60) * MINUTE;
                (begins, begins + (1 + numbers.below(600)) * MINUTE)
            };
            let spans = (0..numbers.below(8)).map(|_| span(&mut numbers)).collect();
            calendars.borrow_mut().insert(person(number), spans);
        }
        let (mut world, group_id) = group(world(&calendars), people, false);
        let missing = if people >= 4 { numbers.below(3) } else { 0 };
        let (length, before, after) = (1 + numbers.below(8), numbers.below(3), numbers.below(3));
        let from = 2 + numbers.below(96 * 6);
        let window = 1 + numbers.below(96 * 7);
        let asked = json!({
            "group_id": group_id, "duration_min": length * 15, "buffer_before_min": before * 15,
            "buffer_after_min": after * 15, "from": at(from), "to": at(from + window),
            "allow_missing": missing, "limit": 10,
        });
        let answer = world.call("find", &asked).unwrap();
        let first = from.saturating_sub(before);
        let cells = first..from + window + after;
        let row = |number: usize| -> Vec<bool> {
            let calendars = calendars.borrow();
            let spans = &calendars[&person(number)];
            let closed = |cell: u64| {
                (0..15).any(|minute| {
                    let at = NOW + cell * CELL + minute * MINUTE;
                    spans.iter().any(|(begins, ends)| *begins <= at && at < *ends)
                })
            };
            cells.clone().map(closed).collect()
        };
        let closed: Vec<_> = (0..people).map(row).collect();
        let cell = |number: u64| usize::try_from(number).unwrap();
        let sought = Sought {
            length: cell(length),
            before: cell(before),
            after: cell(after),
            who: Who::AllBut(cell(missing)),
            most: 10,
        };
        let expected: Vec<_> = tried(&closed, &sought)
            .iter()
            .map(|fit| (first + fit.cell as u64, fit.cannot as u64))
            .collect();
        assert_eq!(found(&answer), expected, "{asked}");
    }
}
