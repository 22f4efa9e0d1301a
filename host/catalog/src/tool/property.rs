//! One field of a tool, from all the actions that take it.

use serde_json::{Map, Value, json};

/// Keywords that do not change what is accepted.
const ANNOTATIONS: [&str; 8] = [
    "$comment",
    "default",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

/// A field as one action takes it.
pub(super) struct Use<'a> {
    pub(super) action: &'a str,
    pub(super) required: bool,
    pub(super) schema: Value,
}

/// A schema that accepts what any of the actions accepts, of `count` actions in all.
pub(super) fn property(uses: &[Use<'_>], count: usize) -> Value {
    let mut kinds: Vec<(Map<String, Value>, Vec<&str>)> = Vec::new();
    for it in uses {
        let rules = rules(&it.schema);
        match kinds.iter_mut().find(|(known, _)| *known == rules) {
            Some((_, actions)) => actions.push(it.action),
            None => kinds.push((rules, vec![it.action])),
        }
    }
    let unruled = kinds.iter().any(|(rules, _)| rules.is_empty());
    let mut fields = match kinds.as_slice() {
        _ if unruled => Map::new(),
        [(rules, _)] => rules.clone(),
        _ => {
            let choices = kinds.into_iter().map(|(mut rules, actions)| {
                let whose = format!("For {}.", actions.join(", "));
                rules.insert("description".to_owned(), json!(whose));
                Value::Object(rules)
            });
            Map::from_iter([("anyOf".to_owned(), choices.collect())])
        }
    };
    fields.insert("description".to_owned(), json!(description(uses, count)));
    for annotation in ["default", "examples"] {
        if let Some(value) = agreed(uses, annotation) {
            fields.insert(annotation.to_owned(), value.clone());
        }
    }
    Value::Object(fields)
}

fn rules(schema: &Value) -> Map<String, Value> {
    let fields = schema.as_object().into_iter().flatten();
    let rules = fields.filter(|(keyword, _)| !ANNOTATIONS.contains(&keyword.as_str()));
    rules.map(|(keyword, value)| (keyword.clone(), value.clone())).collect()
}

/// What all actions say alike.
fn agreed<'a>(uses: &'a [Use<'_>], annotation: &str) -> Option<&'a Value> {
    let (first, rest) = uses.split_first()?;
    let value = first.schema.get(annotation)?;
    rest.iter().all(|it| it.schema.get(annotation) == Some(value)).then_some(value)
}

/// Which actions take the field, and what each says of it.
fn description(uses: &[Use<'_>], count: usize) -> String {
    let mark = |it: &Use<'_>| match it.required {
        true => format!("{} (required)", it.action),
        false => it.action.to_owned(),
    };
    let all = uses.len() == count;
    let whose = match uses.iter().filter(|it| it.required).count() {
        0 if all => "For every action.".to_owned(),
        required if all && required == count => "For every action, required.".to_owned(),
        _ => format!("For {}.", uses.iter().map(mark).collect::<Vec<_>>().join(", ")),
    };
    let mut texts: Vec<(&str, Vec<&str>)> = Vec::new();
    for it in uses {
        let text = it.schema.get("description").and_then(Value::as_str).unwrap_or_default().trim();
        match texts.iter_mut().find(|(known, _)| *known == text) {
            Some((_, actions)) => actions.push(it.action),
            None => texts.push((text, vec![it.action])),
        }
    }
    let one = texts.len() == 1;
    texts.retain(|(text, _)| !text.is_empty());
    let told = texts.iter().map(|(text, actions)| match one {
        true => format!(" {text}"),
        false => format!(" {}: {text}", actions.join(", ")),
    });
    std::iter::once(whose).chain(told).collect()
}
