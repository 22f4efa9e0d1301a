//! One field of a tool, made of the schemas that its actions have for it.

use serde_json::{Map, Value, json};

/// Keywords that do not change what a schema accepts.
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
pub(super) struct FieldUse<'a> {
    pub(super) action: &'a str,
    pub(super) required: bool,
    pub(super) schema: Value,
}

/// Returns a schema that accepts what any of the actions accepts. The tool has `count` actions.
pub(super) fn property(uses: &[FieldUse<'_>], count: usize) -> Value {
    let mut kinds: Vec<(Map<String, Value>, Vec<&str>)> = Vec::new();
    for field in uses {
        let rules = rules(&field.schema);
        match kinds.iter_mut().find(|(known, _)| *known == rules) {
            Some((_, actions)) => actions.push(field.action),
            None => kinds.push((rules, vec![field.action])),
        }
    }
    let accepts_all = kinds.iter().any(|(rules, _)| rules.is_empty());
    let mut fields = match kinds.as_slice() {
        _ if accepts_all => Map::new(),
        [(rules, _)] => rules.clone(),
        _ => {
            let choices = kinds.into_iter().map(|(mut rules, actions)| {
                let actions_sentence = format!("For {}.", actions.join(", "));
                rules.insert("description".to_owned(), json!(actions_sentence));
                Value::Object(rules)
            });
            Map::from_iter([("anyOf".to_owned(), choices.collect())])
        }
    };
    fields.insert("description".to_owned(), json!(description(uses, count)));
    for annotation in ["default", "examples"] {
        if let Some(value) = common_annotation(uses, annotation) {
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

/// Returns an annotation's value if all actions have the same one.
fn common_annotation<'a>(uses: &'a [FieldUse<'_>], annotation: &str) -> Option<&'a Value> {
    let (first, rest) = uses.split_first()?;
    let value = first.schema.get(annotation)?;
    rest.iter().all(|field| field.schema.get(annotation) == Some(value)).then_some(value)
}

/// Describes which actions take the field, and how each describes it.
fn description(uses: &[FieldUse<'_>], count: usize) -> String {
    let mark = |field: &FieldUse<'_>| match field.required {
        true => format!("{} (required)", field.action),
        false => field.action.to_owned(),
    };
    let all = uses.len() == count;
    let actions_sentence = match uses.iter().filter(|field| field.required).count() {
        0 if all => "For every action.".to_owned(),
        required if all && required == count => "For every action, required.".to_owned(),
        _ => format!("For {}.", uses.iter().map(mark).collect::<Vec<_>>().join(", ")),
    };
    let mut texts: Vec<(&str, Vec<&str>)> = Vec::new();
    for field in uses {
        let text =
            field.schema.get("description").and_then(Value::as_str).unwrap_or_default().trim();
        match texts.iter_mut().find(|(known, _)| *known == text) {
            Some((_, actions)) => actions.push(field.action),
            None => texts.push((text, vec![field.action])),
        }
    }
    let one = texts.len() == 1;
    texts.retain(|(text, _)| !text.is_empty());
    let sentences = texts.iter().map(|(text, actions)| match one {
        true => format!(" {text}"),
        false => format!(" {}: {text}", actions.join(", ")),
    });
    std::iter::once(actions_sentence).chain(sentences).collect()
}
