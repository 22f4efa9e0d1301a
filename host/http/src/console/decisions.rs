//! The forms of the console: each sends the request of a decision in the name of the operator.

use super::{
    decision_table::{
        self, Decision,
        Field::{self, Number, Text, Whole},
    },
    failure,
    state::Console,
    visitor::{ConsoleForm, Visitor},
};
use crate::oauth::see_other;
use axum::{
    extract::{Path, State},
    response::Response,
};
use portolan_vocabulary::{ErrorCode, Failure};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use url::Url;

pub(super) async fn decide(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Path(name): Path<String>,
    form: ConsoleForm,
) -> Response {
    let Some(decision) = decision_table::find(&name) else { return failure::no_such_page().await };
    match send(&console, &visitor, decision, &form).await {
        Ok(back) => see_other(&back),
        Err(refused) => failure::page_of(&refused),
    }
}

/// Sends the request of a decision, and returns the address of the page to return to.
async fn send(
    console: &Console,
    visitor: &Visitor,
    decision: &Decision,
    form: &ConsoleForm,
) -> Result<String, Failure> {
    let query = decision.query.iter().map(|name| (*name, form.field(name)));
    let path = address(decision.route, decision.fixed, query, form)?;
    let input = (!decision.input.is_empty()).then(|| input(decision.input, form)).transpose()?;
    let method = decision.method.clone();
    console.api.send(&visitor.operator, method, &path, input).await?;
    address(decision.back, &[], [("done", decision.name)].into_iter(), form)
}

/// Returns a path whose parts in braces are fields of a form, with the query of all values that are not empty.
fn address<'a>(
    pattern: &str,
    fixed: &[(&str, &str)],
    query: impl Iterator<Item = (&'a str, &'a str)>,
    form: &ConsoleForm,
) -> Result<String, Failure> {
    let missing = || Failure::new(ErrorCode::ValidationFailed);
    let mut url = Url::parse("http://console").map_err(|_| missing())?;
    let mut segments = url.path_segments_mut().map_err(|()| missing())?;
    segments.clear();
    for part in pattern.split('/').skip(1) {
        let Some(name) = part.strip_prefix('{').and_then(|name| name.strip_suffix('}')) else {
            segments.push(part);
            continue;
        };
        let fixed = fixed.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let value = fixed.unwrap_or_else(|| form.field(name));
        if value.is_empty() {
            return Err(missing().message(format!("The form has no {name}.")));
        }
        segments.push(value);
    }
    drop(segments);
    let mut query = query.filter(|(_, value)| !value.is_empty()).peekable();
    if query.peek().is_some() {
        url.query_pairs_mut().extend_pairs(query);
    }
    Ok(url.as_str().trim_start_matches("http://console").to_owned())
}

fn input(fields: &[Field], form: &ConsoleForm) -> Result<Value, Failure> {
    let invalid = |message: String| Failure::new(ErrorCode::ValidationFailed).message(message);
    let mut input = Map::new();
    for field in fields {
        let (Text(name) | Number(name) | Whole(name)) = *field;
        let text = form.field(name);
        let value = match field {
            Whole(_) => {
                let whole = serde_json::from_str(text);
                return whole.map_err(|error| invalid(format!("{name} is not JSON: {error}.")));
            }
            _ if text.is_empty() => continue,
            // Browsers send the ends of lines as two characters.
            Text(_) => json!(text.replace("\r\n", "\n")),
            Number(_) => {
                let number: Result<u64, _> = text.parse();
                json!(number.map_err(|_| invalid(format!("{name} must be a whole number.")))?)
            }
        };
        input.insert(name.to_owned(), value);
    }
    Ok(Value::Object(input))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::decision_table::ACTION;

    #[test]
    fn a_field_is_one_part_of_a_path() {
        let form = ConsoleForm::of(&[("id", "a/b?c"), ("to", "1.0&x=1"), ("days", "x")]);
        let path = |fixed: &[(&str, &str)]| {
            let query = [("to", form.field("to")), ("by", "")].into_iter();
            address(ACTION, fixed, query, &form).map_err(|failure| failure.message)
        };
        let expected = "/capabilities/a%2Fb%3Fc/decide?to=1.0%26x%3D1";
        assert_eq!(path(&[("action", "decide")]).unwrap(), expected);
        assert_eq!(path(&[]).unwrap_err(), "The form has no action.");
        assert!(input(&[Number("days")], &form).is_err());
        assert_eq!(input(&[Number("none"), Text("id")], &form).unwrap(), json!({ "id": "a/b?c" }));
    }

    #[test]
    fn a_text_has_lines_and_a_document_is_json() {
        let form = ConsoleForm::of(&[("text", "one\r\ntwo"), ("document", "{\"a\": [1]}")]);
        assert_eq!(input(&[Text("text")], &form).unwrap(), json!({ "text": "one\ntwo" }));
        assert_eq!(input(&[Whole("document")], &form).unwrap(), json!({ "a": [1] }));
        let refused = input(&[Whole("text")], &form).unwrap_err().message;
        assert!(refused.starts_with("text is not JSON: "), "{refused}");
    }
}
