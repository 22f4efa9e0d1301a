//! Tests filters against a simple evaluator over values instead of keys.

use super::super::Shape;
use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::cmp::Ordering;

const PATHS: [&str; 4] = ["a", "b.c", "t[]", "p[].n"];

fn shape() -> Shape {
    let paths = PATHS.iter().filter_map(|text| Path::parse(text)).collect();
    Shape::new(paths, Vec::new(), Vec::new(), None).unwrap()
}

fn matches(filter: &Value, document: &Value) -> bool {
    let shape = shape();
    let filter = Filter::parse(&filter.to_string(), shape.paths()).unwrap();
    filter.matches(shape.paths(), &shape.entry(document).unwrap().keys)
}

/// Compares two values of one kind. Returns `None` for values of different kinds, and for arrays
/// and objects.
fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => left.as_f64().partial_cmp(&right.as_f64()),
        },
        (Value::Null, Value::Null) => Some(Ordering::Equal),
        _ => None,
    }
}

fn candidates<'v>(path: &str, document: &'v Value) -> Vec<&'v Value> {
    let found = match path {
        "a" => vec![document.get("a")],
        "b.c" => vec![document.pointer("/b/c")],
        "t[]" => document["t"].as_array().into_iter().flatten().map(Some).collect(),
        _ => document["p"].as_array().into_iter().flatten().map(|part| part.get("n")).collect(),
    };
    found.into_iter().flatten().collect()
}

fn compare(path: &str, operator: &str, wanted: &Value, document: &Value) -> bool {
    let found = candidates(path, document);
    let any = |fits: &dyn Fn(Ordering) -> bool, wanted: &Value| {
        found.iter().any(|value| order(value, wanted).is_some_and(fits))
    };
    match operator {
        "eq" => any(&Ordering::is_eq, wanted),
        "lt" => any(&Ordering::is_lt, wanted),
        "lte" => any(&Ordering::is_le, wanted),
        "gt" => any(&Ordering::is_gt, wanted),
        "gte" => any(&Ordering::is_ge, wanted),
        "in" => wanted.as_array().unwrap().iter().any(|wanted| any(&Ordering::is_eq, wanted)),
        _ => found.iter().any(|value| !value.is_null()) == wanted.as_bool().unwrap(),
    }
}

fn naive(filter: &Value, document: &Value) -> bool {
    filter.as_object().unwrap().iter().all(|(name, value)| match name.as_str() {
        "and" => value.as_array().unwrap().iter().all(|part| naive(part, document)),
        "or" => value.as_array().unwrap().iter().any(|part| naive(part, document)),
        "not" => !naive(value, document),
        path => {
            let mut operators = value.as_object().unwrap().iter();
            operators.all(|(operator, wanted)| compare(path, operator, wanted, document))
        }
    })
}

fn scalars() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => (-2_i64..4).prop_map(Value::from),
        1 => Just(json!(0.5)),
        1 => Just(json!(1.0)),
        1 => Just(json!(-0.0)),
        1 => (0_i64..3).prop_map(|more| json!((1_i64 << 53) + more)),
        1 => any::<bool>().prop_map(Value::from),
        3 => "[\0\u{1}ab]{0,2}".prop_map(Value::from),
    ]
}

fn fields() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => scalars(),
        1 => Just(json!(null)),
        1 => prop_oneof![Just(json!([1])), Just(json!({"x": 1}))],
    ]
}

fn documents() -> impl Strategy<Value = Value> {
    let list = || prop::option::of(prop::collection::vec(fields(), 0..4));
    (prop::option::of(fields()), prop::option::of(fields()), list(), list(), any::<bool>())
        .prop_map(|(a, c, t, p, holes)| {
            let mut document = json!({});
            let mut people: Vec<_> = p.iter().flatten().map(|name| json!({"n": name})).collect();
            if holes {
                people.push(json!({}));
            }
            let fields = [
                ("a", a),
                ("b", c.map(|c| json!({"c": c}))),
                ("t", t.map(Value::from)),
                ("p", p.map(|_| Value::from(people))),
            ];
            for (name, value) in fields {
                if let Some(value) = value {
                    document[name] = value;
                }
            }
            document
        })
}

fn comparisons() -> impl Strategy<Value = Value> {
    let nullable = || prop_oneof![5 => scalars(), 1 => Just(json!(null))];
    let operator = prop_oneof![
        (prop::sample::select(vec!["lt", "lte", "gt", "gte"]), scalars()),
        nullable().prop_map(|value| ("eq", value)),
        prop::collection::vec(nullable(), 0..4).prop_map(|values| ("in", values.into())),
        any::<bool>().prop_map(|value| ("exists", value.into())),
    ];
    let operators = prop::collection::vec(operator, 1..3);
    let one = (prop::sample::select(&PATHS[..]), operators).prop_map(|(path, operators)| {
        let operators: serde_json::Map<_, _> =
            operators.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        (path.to_owned(), Value::from(operators))
    });
    prop::collection::vec(one, 0..3)
        .prop_map(|members| Value::from(members.into_iter().collect::<serde_json::Map<_, _>>()))
}

fn filters() -> impl Strategy<Value = Value> {
    comparisons().prop_recursive(4, 20, 3, |inner| {
        let list = || prop::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            list().prop_map(|filters| json!({"and": filters})),
            list().prop_map(|filters| json!({"or": filters})),
            inner.clone().prop_map(|filter| json!({"not": filter})),
            (list(), inner.clone()).prop_map(|(any, not)| json!({"or": any, "not": not})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn keys_answer_as_values_do(filter in filters(), document in documents()) {
        prop_assert_eq!(matches(&filter, &document), naive(&filter, &document));
    }

    #[test]
    fn bytes_tell_filters_apart_but_for_the_order_of_their_parts(
        left in filters(), right in filters(), both in filters(),
    ) {
        let parse = |filter: &Value| Filter::parse(&filter.to_string(), shape().paths()).unwrap();
        let (left, right, both) = (parse(&left), parse(&right), parse(&both));
        prop_assert_eq!(left.canonical() == right.canonical(), sorted(&left) == sorted(&right));
        let pairs = [(&left, &both), (&both, &left), (&right, &both), (&left, &right)];
        let [one, other, third, fourth] =
            pairs.map(|(left, right)| Filter::Or(vec![left.clone(), right.clone()]));
        prop_assert_eq!(one.canonical(), other.canonical());
        let same = one.canonical() == third.canonical();
        prop_assert_eq!(same, sorted(&left) == sorted(&right));
        prop_assert_eq!(one.canonical() == fourth.canonical(), sorted(&one) == sorted(&fourth));
    }
}

/// Returns a text that is equal for filters that differ only in the order of their parts.
fn sorted(filter: &Filter) -> String {
    let all = |filters: &[Filter]| {
        let mut parts: Vec<_> = filters.iter().map(sorted).collect();
        parts.sort();
        parts
    };
    match filter {
        Filter::And(filters) => format!("And{:?}", all(filters)),
        Filter::Or(filters) => format!("Or{:?}", all(filters)),
        Filter::Not(filter) => format!("Not({})", sorted(filter)),
        other => format!("{other:?}"),
    }
}

#[test]
fn empty_lists_are_all_or_nothing() {
    let document = json!({"a": 1});
    assert!(matches(&json!({"and": []}), &document));
    assert!(!matches(&json!({"or": []}), &document));
    assert!(!matches(&json!({"a": {"in": []}}), &document));
    assert!(matches(&json!({"not": {"a": {"in": []}}}), &document));
}

#[test]
fn a_range_stays_within_its_kind() {
    let of = |a: Value| json!({ "a": a });
    assert!(!matches(&json!({"a": {"lt": "z"}}), &of(json!(1))));
    assert!(!matches(&json!({"a": {"gt": 1}}), &of(json!("a"))));
    assert!(!matches(&json!({"a": {"gt": "a"}}), &of(json!(["b"]))));
    assert!(!matches(&json!({"a": {"lt": false}}), &of(json!(null))));
    assert!(matches(&json!({"a": {"lte": false}}), &of(json!(false))));
}

#[test]
fn a_missing_field_is_not_null_and_neither_exists() {
    let (missing, null) = (json!({}), json!({"a": null}));
    assert!(!matches(&json!({"a": {"eq": null}}), &missing));
    assert!(matches(&json!({"a": {"eq": null}}), &null));
    for document in [missing, null] {
        assert!(matches(&json!({"a": {"exists": false}}), &document));
    }
    assert!(!matches(&json!({"t[]": {"exists": true}}), &json!({"t": [null]})));
    assert!(matches(&json!({"t[]": {"exists": true}}), &json!({"t": [null, {}]})));
}
