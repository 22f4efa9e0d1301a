//! A call of an action in several languages, to paste. The example is data of the author and the address that of
//! the operator: each is written as a literal of its language.

use crate::install::shell_string;
use portolan_vocabulary::ActionDescriptor;
use serde_json::{Map, Value};

/// A call to paste.
pub(super) struct Snippet {
    pub(super) language: &'static str,
    pub(super) text: String,
}

/// Returns the body of a call of an action with its first example.
pub(super) fn body(action: &ActionDescriptor) -> Value {
    let mut body = Map::from_iter([("action".to_owned(), Value::from(action.name.as_str()))]);
    let example = action.examples.iter().flatten().find_map(Value::as_object);
    body.extend(example.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
    Value::Object(body)
}

/// Returns a call for a POSIX shell.
pub(super) fn curl(url: &str, body: &Value) -> String {
    let (url, body) = (shell_string(url), shell_string(&body.to_string()));
    format!(
        "curl -s {url} \\\n  -H \"authorization: Bearer $TOKEN\" -H 'content-type: application/json' \\\n  -d {body}"
    )
}

/// Returns the call in the languages of programs.
pub(super) fn programs(url: &str, body: &Value) -> [Snippet; 2] {
    let url = Value::from(url);
    let python = format!(
        "import json
import os
import urllib.error
import urllib.request

request = urllib.request.Request(
    {url},
    data=json.dumps({body}).encode(),
    headers={{
        \"authorization\": \"Bearer \" + os.environ[\"TOKEN\"],
        \"content-type\": \"application/json\",
    }},
)
try:
    with urllib.request.urlopen(request) as response:
        print(json.load(response)[\"result\"])
except urllib.error.HTTPError as refused:
    print(json.load(refused))",
        body = python_literal(body),
    );
    let type_script = format!(
        "const response = await fetch({url}, {{
  method: \"POST\",
  headers: {{
    authorization: `Bearer ${{process.env.TOKEN}}`,
    \"content-type\": \"application/json\",
  }},
  body: JSON.stringify({body}),
}});
const answer = await response.json();
if (!response.ok) {{
  throw new Error(`${{answer.error_code}}: ${{answer.message}}`);
}}
console.log(answer.result);

export {{}};"
    );
    [
        Snippet { language: "Python", text: python },
        Snippet { language: "TypeScript", text: type_script },
    ]
}

/// Returns a value as Python writes it. A text of JSON is one of Python too.
fn python_literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(_) | Value::String(_) => value.to_string(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(python_literal).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                format!("{}: {}", Value::from(name.as_str()), python_literal(value))
            };
            let fields: Vec<_> = fields.iter().map(field).collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_literals_of_python() {
        let value = json!({ "a\"b": [null, true, false, 1.5, "ü\\\n'"], "c": {} });
        let expected = r#"{"a\"b": [None, True, False, 1.5, "ü\\\n'"], "c": {}}"#;
        assert_eq!(python_literal(&value), expected);
    }
}
