//! The order of a query's answer, and a document's place in it.

use super::Path;
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}

/// A criterion by which documents are sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderBy {
    /// The key of a declared path without `[]`.
    Path(Path),
    Relevance,
    Distance,
}

/// One sort key. Documents that are equal by all sort keys are sorted by their ids, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub by: OrderBy,
    pub direction: Direction,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SortValue {
    Key(String),
    /// A relevance, or the square of a chord.
    Number(f64),
}

/// The position of a document in an answer: one value for each sort key, and its id.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    pub sort: Vec<SortValue>,
    pub id: String,
}

impl Placed {
    /// Compares two positions in this order.
    pub fn compare(&self, other: &Self, order: &[Order]) -> Ordering {
        let values = self.sort.iter().zip(&other.sort);
        let first = order.iter().zip(values).map(|(order, (left, right))| {
            let ordering = left.compare(right);
            if order.direction == Direction::Ascending { ordering } else { ordering.reverse() }
        });
        first.fold(Ordering::Equal, Ordering::then).then_with(|| self.id.cmp(&other.id))
    }
}

impl SortValue {
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Key(left), Self::Key(right)) => left.cmp(right),
            // As SQL does, and unlike total_cmp, 0 equals -0.
            (Self::Number(left), Self::Number(right)) => {
                left.partial_cmp(right).unwrap_or_else(|| left.total_cmp(right))
            }
            (Self::Key(_), Self::Number(_)) => Ordering::Less,
            (Self::Number(_), Self::Key(_)) => Ordering::Greater,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(key: &str, number: f64, id: &str) -> Placed {
        let sort = vec![SortValue::Key(key.to_owned()), SortValue::Number(number)];
        Placed { sort, id: id.to_owned() }
    }

    #[test]
    fn keys_count_in_turn_each_in_its_direction() {
        let order = [
            Order { by: OrderBy::Relevance, direction: Direction::Ascending },
            Order { by: OrderBy::Distance, direction: Direction::Descending },
        ];
        let sorted = [
            placed("", 1.0, "z"),
            placed("3a", 9.5, "b"),
            placed("3a", -0.0, "a"),
            placed("3a", 0.0, "b"),
            placed("3b", 100.0, "a"),
        ];
        assert!(sorted.is_sorted_by(|left, right| left.compare(right, &order).is_lt()));
        let [.., last] = &sorted;
        assert!(last.compare(last, &order).is_eq());
    }

    #[test]
    fn without_sort_keys_ids_ascend() {
        assert!(placed("3b", 1.0, "a").compare(&placed("3a", 0.0, "b"), &[]).is_lt());
    }
}
