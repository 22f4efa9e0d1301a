//! The tools that a client sees, by the path and the query of its endpoint.

use portolan_vocabulary::{ErrorCode, Failure};
use serde_json::json;
use url::form_urlencoded;

/// The paths below the endpoint, for messages.
const PATHS: &str =
    "/mcp, /mcp/all, /mcp/search, /mcp/x/TOOLSET, each also with /readonly at the end";
/// The maximum number of toolsets of one endpoint.
const MAX_NAMES: usize = 16;
/// The end of the path of an endpoint that only reads.
const READ_ONLY: &str = "readonly";
/// The fields of the query.
const TOOLS: &str = "tools";
const OUTPUT_SCHEMAS: &str = "output_schemas";

/// The tools that an endpoint lists and permits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct View {
    pub(super) tools: ToolSet,
    /// Whether the endpoint refuses calls that change something.
    pub(super) read_only: bool,
    /// Whether tools have the schemas of their answers.
    pub(super) output_schemas: bool,
}

/// The tools that are listed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) enum ToolSet {
    /// The few tools that the operator and the capabilities choose, and those that find others.
    #[default]
    Default,
    All,
    /// The tools that find others.
    Search,
    /// The tools of the capabilities with one of these tags or ids, sorted, and those that find others.
    Named(Vec<String>),
}

impl ToolSet {
    fn parse(name: &str) -> Self {
        match name {
            "default" => Self::Default,
            "all" => Self::All,
            "search" => Self::Search,
            names => {
                let mut names: Vec<_> = names.split(',').map(str::to_owned).collect();
                names.sort_unstable();
                names.dedup();
                Self::Named(names)
            }
        }
    }
}

impl View {
    /// Parses what follows the endpoint's path, such as `/x/calendar/readonly`, and the query, such as
    /// `tools=calendar&readonly=true&output_schemas=true`.
    ///
    /// # Errors
    ///
    /// Fails with `not_found` if the path is unknown, and with `validation_failed` if a field of the query is, or
    /// if there are too many toolsets.
    pub fn parse(path: &str, query: Option<&str>) -> Result<Self, Failure> {
        let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let read_only = parts.last() == Some(&READ_ONLY);
        if read_only {
            parts.pop();
        }
        let tools = match parts.as_slice() {
            [] => ToolSet::Default,
            [name @ ("all" | "search")] | ["x", name] => ToolSet::parse(name),
            _ => {
                let message = format!("There is no such endpoint. Use one of {PATHS}.");
                return Err(Failure::new(ErrorCode::NotFound).message(message));
            }
        };
        let mut view = Self { tools, read_only, output_schemas: false };
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            match &*name {
                TOOLS => view.tools = ToolSet::parse(&value),
                READ_ONLY => view.read_only = view.read_only || flag(&name, &value)?,
                OUTPUT_SCHEMAS => view.output_schemas = flag(&name, &value)?,
                _ => {}
            }
        }
        match &view.tools {
            ToolSet::Named(names) if names.len() > MAX_NAMES => {
                let message = format!("An endpoint has at most {MAX_NAMES} toolsets.");
                Err(Failure::new(ErrorCode::ValidationFailed).message(message))
            }
            _ => Ok(view),
        }
    }
}

/// Returns whether the value of a field is `true` rather than `false`.
fn flag(name: &str, value: &str) -> Result<bool, Failure> {
    match value {
        "true" | "1" | "" => Ok(true),
        "false" | "0" => Ok(false),
        _ => {
            let error =
                json!({ "pointer": format!("/{name}"), "rule": "enum", "expected": [true, false] });
            let conflict = json!({ "kind": "validation", "errors": [error] });
            Err(Failure::new(ErrorCode::ValidationFailed).conflict(conflict))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(tools: ToolSet, read_only: bool) -> View {
        View { tools, read_only, output_schemas: false }
    }

    #[test]
    fn a_path_and_a_query_choose_the_tools() {
        let named =
            |names: &[&str]| ToolSet::Named(names.iter().map(|name| (*name).to_owned()).collect());
        for (path, query, expected) in [
            ("", None, view(ToolSet::Default, false)),
            ("/readonly", None, view(ToolSet::Default, true)),
            ("/all", None, view(ToolSet::All, false)),
            ("/search/", Some("other=1"), view(ToolSet::Search, false)),
            ("/x/calendar,a/readonly", None, view(named(&["a", "calendar"]), true)),
            ("/x/all", Some("readonly=false"), view(ToolSet::All, false)),
            ("", Some("tools=calendar&readonly=true"), view(named(&["calendar"]), true)),
            // The query cannot permit what the path refuses.
            ("/readonly", Some("readonly=false"), view(ToolSet::Default, true)),
        ] {
            assert_eq!(View::parse(path, query).unwrap(), expected, "{path} {query:?}");
        }
        assert!(View::parse("", Some("output_schemas=true")).unwrap().output_schemas);
    }

    #[test]
    fn unknown_paths_and_values_are_refused() {
        for path in ["/every", "/x", "/x/a/b", "/all/all"] {
            let failure = View::parse(path, None).unwrap_err();
            assert!(failure.has_code(ErrorCode::NotFound), "{path}");
        }
        let failure = View::parse("", Some("readonly=perhaps")).unwrap_err();
        assert!(failure.has_code(ErrorCode::ValidationFailed));
    }
}
