//! The search in cells: which times suit all, or all but a few.

/// The people who have to be free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// The first person, and all others but this number of them.
    AllBut(usize),
    /// One of them.
    One,
}

/// The times that are searched for; lengths are numbers of cells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sought {
    pub(crate) length: usize,
    /// The cells before the time that have to be free too.
    pub(crate) before: usize,
    pub(crate) after: usize,
    pub(crate) who: Who,
    /// The maximum number of times.
    pub(crate) most: usize,
}

/// A time that begins at a cell, and at which some cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fit {
    pub(crate) cannot: usize,
    pub(crate) cell: usize,
}

/// Returns the best times that do not overlap, of those that are admitted: those with the fewest missing people
/// first, then the earliest. Which of the people cannot does not matter for the answer, only how many, and
/// whether the first one can.
pub(crate) fn best(
    closed: &[Vec<bool>],
    sought: &Sought,
    is_admitted: impl Fn(usize) -> bool,
) -> Vec<Fit> {
    let rows: Vec<Vec<usize>> = closed.iter().map(|row| sums(row)).collect();
    let cells = closed.first().map_or(0, Vec::len);
    let whole = sought.before + sought.length + sought.after;
    let is_closed = |sums: &Vec<usize>, first: usize| sums.get(first) != sums.get(first + whole);
    let missing = |first: usize| {
        let cannot = rows.iter().filter(|sums| is_closed(sums, first)).count();
        match sought.who {
            Who::One => (cannot < rows.len()).then_some(0),
            Who::AllBut(most) => {
                let can_first = rows.first().is_some_and(|sums| !is_closed(sums, first));
                Some(cannot).filter(|cannot| can_first && *cannot <= most)
            }
        }
    };
    let starts = 0..(cells + 1).saturating_sub(whole);
    let fit = |first| Some(Fit { cannot: missing(first)?, cell: first + sought.before });
    let mut fits: Vec<Fit> = starts.filter_map(fit).filter(|fit| is_admitted(fit.cell)).collect();
    fits.sort_unstable();
    let mut chosen: Vec<Fit> = Vec::new();
    for fit in fits {
        let is_apart = |other: &Fit| fit.cell.abs_diff(other.cell) >= sought.length;
        if chosen.len() < sought.most && chosen.iter().all(is_apart) {
            chosen.push(fit);
        }
    }
    chosen
}

/// Returns how many cells before each one, and before the end, are closed.
fn sums(row: &[bool]) -> Vec<usize> {
    let counted = row.iter().scan(0, |sum, closed| {
        *sum += usize::from(*closed);
        Some(*sum)
    });
    std::iter::once(0).chain(counted).collect()
}
