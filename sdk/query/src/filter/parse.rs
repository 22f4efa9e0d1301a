//! Parses a filter: JSON with operators, over declared paths.

use super::{
    super::key::{self, KeyError},
    Bound, Filter, Path,
};
use serde_json::{Map, Value};

const MAX_DEPTH: usize = 8;
const MAX_COMPARISONS: usize = 100;
const MAX_VALUES: usize = 200;
const OPERATORS: &str = "eq, in, lt, lte, gt, gte or exists";

/// The reason why a filter cannot be parsed.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    #[error("the filter is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the path {0} is not indexed: declare an index with the path {0:?}")]
    Undeclared(String),
    /// `at` is a JSON pointer into the filter.
    #[error("{at}: {problem}; {allowed}")]
    Malformed { at: String, problem: String, allowed: String },
    #[error("{at} is too deep: at most {MAX_DEPTH} levels of and, or and not are allowed")]
    TooDeep { at: String },
    #[error("the filter has more than {MAX_COMPARISONS} comparisons, the most allowed")]
    TooManyComparisons,
    #[error("{at} has {count} values; at most {MAX_VALUES} are allowed")]
    TooManyValues { at: String, count: usize },
    #[error("{at}: {error}, so no document can have it")]
    Key { at: String, error: KeyError },
}

impl Filter {
    /// Parses a filter over these paths.
    pub fn parse(text: &str, declared: &[Path]) -> Result<Self, FilterError> {
        let mut parser = Parser { declared, comparisons: 0 };
        parser.filter(&serde_json::from_str(text)?, "filter", 0)
    }
}

struct Parser<'d> {
    declared: &'d [Path],
    comparisons: usize,
}

impl Parser<'_> {
    fn filter(&mut self, value: &Value, at: &str, depth: usize) -> Result<Filter, FilterError> {
        if depth > MAX_DEPTH {
            return Err(FilterError::TooDeep { at: at.to_owned() });
        }
        let Value::Object(members) = value else {
            let allowed = "write an object such as {\"kind\":{\"eq\":\"demand\"}}";
            return Err(malformed(at, format!("{} is not a filter", kind(value)), allowed));
        };
        let mut parts = Vec::with_capacity(members.len());
        for (name, value) in members {
            let at = format!("{at}/{}", excerpt(name));
            parts.push(match name.as_str() {
                "and" => Filter::And(self.filters(value, &at, depth + 1)?),
                "or" => Filter::Or(self.filters(value, &at, depth + 1)?),
                "not" => Filter::Not(Box::new(self.filter(value, &at, depth + 1)?)),
                path => self.comparisons(path, value, &at)?,
            });
        }
        Ok(all(parts))
    }

    fn filters(
        &mut self,
        value: &Value,
        at: &str,
        depth: usize,
    ) -> Result<Vec<Filter>, FilterError> {
        let Value::Array(filters) = value else {
            let problem = format!("{} is not a list of filters", kind(value));
            return Err(malformed(at, problem, "write an array of filters"));
        };
        let filters = filters.iter().enumerate();
        filters
            .map(|(place, filter)| self.filter(filter, &format!("{at}/{place}"), depth))
            .collect()
    }

    fn comparisons(&mut self, name: &str, value: &Value, at: &str) -> Result<Filter, FilterError> {
        let Some(path) = Path::parse(name) else {
            let problem = format!("{:?} is not a path", excerpt(name));
            return Err(malformed(at, problem, "write and, or, not or a path such as owner.id"));
        };
        if !self.declared.contains(&path) {
            return Err(FilterError::Undeclared(path.to_string()));
        }
        let operators = value.as_object().filter(|operators| !operators.is_empty());
        let Some(operators) = operators else {
            let problem = format!("{} is not a comparison", kind(value));
            let allowed = format!("write an object with {OPERATORS}, such as {{\"eq\":1}}");
            return Err(malformed(at, problem, allowed));
        };
        self.comparisons += operators.len();
        if self.comparisons > MAX_COMPARISONS {
            return Err(FilterError::TooManyComparisons);
        }
        comparisons(&path, operators, at).map(all)
    }
}

fn comparisons(
    path: &Path,
    operators: &Map<String, Value>,
    at: &str,
) -> Result<Vec<Filter>, FilterError> {
    let comparison = |(operator, value): (&String, &Value)| {
        let at = format!("{at}/{}", excerpt(operator));
        comparison(path.clone(), operator, value, &at)
    };
    operators.iter().map(comparison).collect()
}

fn comparison(path: Path, operator: &str, value: &Value, at: &str) -> Result<Filter, FilterError> {
    match operator {
        "eq" => Ok(Filter::In { path, keys: vec![scalar_key(value, at)?] }),
        "in" => Ok(Filter::In { path, keys: listed_keys(value, at)? }),
        "lt" | "lte" | "gt" | "gte" => range(path, operator, value, at),
        "exists" => match value {
            Value::Bool(exists) => Ok(Filter::Exists { path, exists: *exists }),
            other => {
                let problem = format!("{} is not a boolean", kind(other));
                Err(malformed(at, problem, "write true or false"))
            }
        },
        other => {
            let problem = format!("{:?} is not an operator", excerpt(other));
            Err(malformed(at, problem, format!("write {OPERATORS}")))
        }
    }
}

fn scalar_key(value: &Value, at: &str) -> Result<String, FilterError> {
    if value.is_array() || value.is_object() {
        let problem = format!("{} cannot be compared", kind(value));
        return Err(malformed(at, problem, "write a string, a number, a boolean or null"));
    }
    key::key(Some(value)).map_err(|error| FilterError::Key { at: at.to_owned(), error })
}

fn listed_keys(value: &Value, at: &str) -> Result<Vec<String>, FilterError> {
    let Value::Array(values) = value else {
        let problem = format!("{} is not a list of values", kind(value));
        return Err(malformed(at, problem, "write an array, or eq for one value"));
    };
    if values.len() > MAX_VALUES {
        return Err(FilterError::TooManyValues { at: at.to_owned(), count: values.len() });
    }
    let mut keys = values
        .iter()
        .enumerate()
        .map(|(place, value)| scalar_key(value, &format!("{at}/{place}")))
        .collect::<Result<Vec<_>, _>>()?;
    keys.sort_unstable();
    keys.dedup();
    Ok(keys)
}

/// Returns a range. The end that the operator leaves open is the end of the value's kind, so that
/// only values of that kind match.
fn range(path: Path, operator: &str, value: &Value, at: &str) -> Result<Filter, FilterError> {
    let (first, past) = match value {
        Value::Bool(_) => (key::BOOLEAN, key::NUMBER),
        Value::Number(_) => (key::NUMBER, key::STRING),
        Value::String(_) => (key::STRING, key::COMPOSITE),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            let problem = format!("{} has no order", kind(value));
            return Err(malformed(at, problem, "write a string, a number or a boolean"));
        }
    };
    let given = Bound { key: scalar_key(value, at)?, inclusive: operator.ends_with('e') };
    let (lower, upper) = if operator.starts_with('l') {
        (Bound { key: first.to_owned(), inclusive: true }, given)
    } else {
        (given, Bound { key: past.to_owned(), inclusive: false })
    };
    Ok(Filter::Range { path, lower, upper })
}

/// Joins filters with `And`. A single filter is returned unchanged.
fn all(mut filters: Vec<Filter>) -> Filter {
    match filters.pop() {
        Some(only) if filters.is_empty() => only,
        last => {
            filters.extend(last);
            Filter::And(filters)
        }
    }
}

fn malformed(at: &str, problem: String, allowed: impl Into<String>) -> FilterError {
    FilterError::Malformed { at: at.to_owned(), problem, allowed: allowed.into() }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(object) if object.is_empty() => "an empty object",
        Value::Object(_) => "an object",
    }
}

/// Returns at most the first 80 bytes of a caller's text, to repeat them in an error.
fn excerpt(text: &str) -> &str {
    text.get(..text.floor_char_boundary(80)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn declared() -> Vec<Path> {
        ["price", "kind", "tags[]"].map(|text| Path::parse(text).unwrap()).to_vec()
    }

    fn parse(filter: &Value) -> Filter {
        Filter::parse(&filter.to_string(), &declared()).unwrap()
    }

    fn error(filter: Value) -> String {
        Filter::parse(&filter.to_string(), &declared()).unwrap_err().to_string()
    }

    #[test]
    fn a_range_ends_where_its_kind_does() {
        let below = parse(&json!({"kind": {"lt": "b"}}));
        let upper = Bound { key: "3b".to_owned(), inclusive: false };
        let lower = Bound { key: "3".to_owned(), inclusive: true };
        let path = Path::parse("kind").unwrap();
        assert_eq!(below, Filter::Range { path: path.clone(), lower, upper });
        let lower = Bound { key: "11".to_owned(), inclusive: true };
        let upper = Bound { key: "2".to_owned(), inclusive: false };
        assert_eq!(parse(&json!({"kind": {"gte": true}})), Filter::Range { path, lower, upper });
    }

    #[test]
    fn several_members_or_operators_mean_all_of_them() {
        let long = json!({"and": [
            {"price": {"gt": 1}}, {"price": {"lt": 5}}, {"kind": {"eq": "a"}},
        ]});
        let short = json!({"price": {"gt": 1, "lt": 5}, "kind": {"eq": "a"}});
        let Filter::And(parts) = parse(&short) else { panic!("not an and") };
        assert_eq!(parts.len(), 2);
        let matches = |filter: &Value, price: i64| {
            let keys =
                [vec![key::key(Some(&json!(price))).unwrap()], vec!["3a".to_owned()], vec![]];
            parse(filter).matches(&declared(), &keys)
        };
        for price in 0..7 {
            assert_eq!(matches(&long, price), matches(&short, price));
        }
        assert_eq!(parse(&json!({})), Filter::And(Vec::new()));
    }

    #[test]
    fn errors_say_what_where_and_what_is_allowed() {
        assert_eq!(
            error(json!({"or": [{}, {"cost": {"eq": 1}}]})),
            "the path cost is not indexed: declare an index with the path \"cost\""
        );
        assert_eq!(
            error(json!({"or": [{}, {"price": {"near": 1}}]})),
            "filter/or/1/price/near: \"near\" is not an operator; write eq, in, lt, lte, gt, gte or exists"
        );
        assert_eq!(
            error(json!({"price": 5})),
            "filter/price: a number is not a comparison; write an object with eq, in, lt, lte, gt, \
             gte or exists, such as {\"eq\":1}"
        );
        assert_eq!(
            error(json!({"price": {"lt": null}})),
            "filter/price/lt: null has no order; write a string, a number or a boolean"
        );
        assert_eq!(
            error(json!({"$and": []})),
            "filter/$and: \"$and\" is not a path; write and, or, not or a path such as owner.id"
        );
        assert_eq!(
            error(json!({"kind": {"eq": "x".repeat(513)}})),
            "filter/kind/eq: a string of more than 512 bytes cannot be indexed, so no document can \
             have it"
        );
        assert_eq!(
            error(json!({"kind": {"in": ["a", ["b"]]}})),
            "filter/kind/in/1: an array cannot be compared; write a string, a number, a boolean or null"
        );
        for wrong in
            [json!([]), json!({"and": {}}), json!({"kind": {}}), json!({"kind": {"in": 1}})]
        {
            assert!(Filter::parse(&wrong.to_string(), &declared()).is_err(), "{wrong}");
        }
        assert!(matches!(Filter::parse("{", &declared()), Err(FilterError::Json(_))));
    }

    #[test]
    fn filters_have_limits() {
        let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"not": inner}));
        parse(&nested(8));
        assert_eq!(
            error(nested(9)),
            "filter/not/not/not/not/not/not/not/not/not is too deep: at most 8 levels of and, or \
             and not are allowed"
        );
        let many = |count: usize| json!({"or": vec![json!({"price": {"eq": 1}}); count]});
        parse(&many(100));
        assert!(error(many(101)).contains("more than 100 comparisons"));
        let listed = |count: usize| json!({"price": {"in": vec![1; count]}});
        parse(&listed(200));
        assert_eq!(error(listed(201)), "filter/price/in has 201 values; at most 200 are allowed");
    }
}
