//! Checks a descriptor and reports everything that is wrong with it at once, each with its fix.

use crate::{
    action::Schemas,
    capability_tool::{check_intents, check_tools},
    consequence::check_consequence,
    counts::check_counts,
    person_page::check_person_page,
    problem::{Problem, Problems, TOO_COMPLEX_FIX, check_line, check_text, excerpt},
    prompts::check_prompts,
    published::check_published,
    reach::check_reach,
    schema::{Schema, SchemaError, close},
};
use portolan_names::find_invisible;
use portolan_vocabulary::{
    Access, ActionDescriptor, BY_PERSON, CONSEQUENCE, Descriptor, ErrorCode, INTENTS,
    LEFT_OUT_OF_EXPORTS, Limits, NO_DRY_RUN, PERSON_PAGE, PUBLISHED, People, RESERVED_IDS, Role,
    TOOLS, WHILE_SUSPENDED, is_capability_id, is_snake_case,
};
use serde_json::Value;
use std::collections::HashSet;

/// Fields of a call's body that the host takes out before the component sees it.
const RESERVED_FIELDS: [&str; 3] = ["action", "idempotency_key", "dry_run"];

/// The maximum number of bytes of the value of an annotation.
const ANNOTATION_BYTES: usize = 16 * 1024;

/// The maximum number of characters of a version, of a tag, and of what is said of an error or a deprecation.
const VERSION_CHARACTERS: usize = 64;
const TAG_CHARACTERS: usize = 64;
const REASON_CHARACTERS: usize = 1_000;
/// The maximum number of indexes of all collections together; the database has a table or an index for each.
const INDEXES: usize = 200;

/// Returns the schemas of the actions in their order, or every problem.
pub(super) fn check(
    descriptor: &Descriptor,
    limits: &Limits,
) -> Result<Vec<Schemas>, Vec<Problem>> {
    let mut problems = Problems::default();
    check_counts(descriptor, &mut problems);
    if !problems.0.is_empty() {
        return Err(problems.0);
    }
    check_head(descriptor, &mut problems);
    check_errors(descriptor, &mut problems);
    check_collections(descriptor, &mut problems);
    check_reach(descriptor, &mut problems);
    check_state_machines(descriptor, &mut problems);
    check_roles(descriptor, &mut problems);
    check_annotations(descriptor, &mut problems);
    check_prompts(descriptor, &mut problems);
    let schemas: Vec<_> = descriptor
        .actions
        .iter()
        .filter_map(|action| check_action(descriptor, action, limits, &mut problems))
        .collect();
    if problems.0.is_empty() { Ok(schemas) } else { Err(problems.0) }
}

/// Checks every text of a schema, because agents read them in the descriptions of tools.
fn check_schema_texts(at: &str, schema: &Value, problems: &mut Problems) {
    if let Some((text, letter)) = find_invisible_text(schema) {
        let (text, code) = (excerpt(text), u32::from(letter));
        let problem = format!("has {text:?} with the character U+{code:04X}, which cannot be seen");
        problems.add(at, problem, "leave it out");
    }
}

/// Returns the first text of a value, or name of a member, with an invisible character.
fn find_invisible_text(value: &Value) -> Option<(&str, char)> {
    let find = |text: &'_ str| text.split(['\n', '\t']).find_map(find_invisible);
    match value {
        Value::String(text) => find(text).map(|letter| (text.as_str(), letter)),
        Value::Array(items) => items.iter().find_map(find_invisible_text),
        Value::Object(members) => members.iter().find_map(|(name, value)| {
            let in_name = find(name).map(|letter| (name.as_str(), letter));
            in_name.or_else(|| find_invisible_text(value))
        }),
        _ => None,
    }
}

fn check_head(descriptor: &Descriptor, problems: &mut Problems) {
    if !is_capability_id(&descriptor.id) {
        problems.add(
            "id",
            format!("{:?} is not a capability id", excerpt(&descriptor.id)),
            "use lower-case names of letters, digits, _ and -, joined by dots, at most 64 characters",
        );
    }
    if RESERVED_IDS.contains(&descriptor.id.as_str()) {
        problems.add("id", "is reserved for a page of the host", "use another id");
    }
    if let Err(error) = semver::Version::parse(&descriptor.version) {
        problems.add(
            "version",
            format!("{:?} is not a semantic version: {error}", excerpt(&descriptor.version)),
            "write three numbers, such as 1.0.0",
        );
    }
    check_line("version", &descriptor.version, VERSION_CHARACTERS, problems);
    check_line("title", &descriptor.title, 80, problems);
    for (at, text, limit) in
        [("summary", &descriptor.summary, 300), ("description", &descriptor.description, 8_000)]
    {
        check_text(at, text, limit, problems);
    }
    for tag in &descriptor.tags {
        check_line("tags", tag, TAG_CHARACTERS, problems);
    }
    if let Some(successor) = descriptor.successor.as_ref().filter(|id| !is_capability_id(id)) {
        let problem = format!("{:?} is not a capability id", excerpt(successor));
        problems.add("successor", problem, "name the capability that replaces this one");
    }
    if descriptor.actions.is_empty() {
        problems.add("actions", "there is none", "declare at least one action");
    }
    problems
        .add_duplicates("actions", descriptor.actions.iter().map(|action| action.name.as_str()));
    if let Some(default) = &descriptor.default_action {
        let callable = descriptor
            .actions
            .iter()
            .any(|action| action.name == *default && action.access != Access::Internal);
        if !callable {
            problems.add(
                "default_action",
                format!("there is no action {:?} that agents may call", excerpt(default)),
                "name one of the actions, or none",
            );
        }
    }
}

fn check_errors(descriptor: &Descriptor, problems: &mut Problems) {
    problems.add_duplicates("errors", descriptor.errors.iter().map(|error| error.code.as_str()));
    for error in &descriptor.errors {
        let at = format!("errors.{}", excerpt(&error.code));
        if !is_snake_case(&error.code) {
            problems.add(&at, "is not snake_case", "use lower-case letters, digits and _");
        }
        check_text(&at, &error.description, REASON_CHARACTERS, problems);
        if ErrorCode::from_name(&error.code).is_some() {
            problems.add(
                &at,
                "is one of the host's common codes",
                "leave it out of the declaration, or choose another name for another meaning",
            );
        }
    }
}

fn check_collections(descriptor: &Descriptor, problems: &mut Problems) {
    problems.add_duplicates(
        "collections",
        descriptor.collections.iter().map(|named| named.name.as_str()),
    );
    let counted = |collection: &portolan_vocabulary::Collection| {
        collection.indexes.len() + collection.text.len() + usize::from(collection.geo.is_some())
    };
    let indexes: usize = descriptor.collections.iter().map(counted).sum();
    if indexes > INDEXES {
        problems.add(
            "collections",
            format!("have {indexes} indexes together, more than {INDEXES}"),
            "leave out indexes that no query uses",
        );
    }
    for collection in &descriptor.collections {
        let at = format!("collections.{}", excerpt(&collection.name));
        if !is_snake_case(&collection.name) {
            problems.add(&at, "is not snake_case", "use lower-case letters, digits and _");
        }
        problems.add_duplicates(&at, collection.indexes.iter().map(|index| index.name.as_str()));
        if collection.version == 0 {
            problems.add(&at, "has version 0", "count versions from 1");
        }
        if let Err(error) = People::new(collection.people.as_deref().unwrap_or_default()) {
            problems.add(format!("{at}.people"), "cannot be used", error);
        }
        if let Err(error) = portolan_store::shape(collection) {
            problems.add(&at, "cannot be indexed as declared", error.to_string());
        }
        let geo = collection.geo.iter().flat_map(|geo| [&geo.latitude, &geo.longitude]);
        let paths = collection.indexes.iter().flat_map(|index| &index.paths);
        for path in paths.chain(&collection.text).chain(geo) {
            if !is_path(path) {
                problems.add(
                    &at,
                    format!("{:?} is not a path", excerpt(path)),
                    "use names joined by dots, such as owner.id, and [] for the elements of an array",
                );
            }
        }
    }
}

/// Returns the collections that do not declare the people of their documents, which `portolan check` requires
/// of an author. A host loads such a capability, and refuses documents of these collections that name a
/// person.
pub fn undeclared_people(descriptor: &Descriptor) -> Vec<Problem> {
    let mut problems = Problems::default();
    for collection in descriptor.collections.iter().filter(|named| named.people.is_none()) {
        problems.add(
            format!("collections.{}.people", excerpt(&collection.name)),
            "is not declared",
            "declare the paths at which its documents name people and what their erasure does, or \
             an empty list if they name nobody; in Rust, .people(&[…]) or .nobody()",
        );
    }
    problems.0
}

fn check_state_machines(descriptor: &Descriptor, problems: &mut Problems) {
    let machines = &descriptor.state_machines;
    problems.add_duplicates("state_machines", machines.iter().map(|named| named.name.as_str()));
    for machine in machines {
        let at = format!("state_machines.{}", excerpt(&machine.name));
        problems.add_duplicates(&at, machine.states.iter().map(String::as_str));
        for name in machine.states.iter().chain([&machine.name]) {
            if !is_snake_case(name) {
                problems.add(
                    &at,
                    format!("{:?} is not snake_case", excerpt(name)),
                    "use lower-case letters, digits and _",
                );
            }
        }
        for transition in &machine.transitions {
            let at = format!("{at}.{}", excerpt(&transition.action));
            if !descriptor.actions.iter().any(|action| action.name == transition.action) {
                problems.add(&at, "there is no such action", "name an action of this capability");
            }
            for state in transition.from.iter().chain(&transition.to) {
                if !machine.states.contains(state) {
                    problems.add(
                        &at,
                        format!("there is no state {:?}", excerpt(state)),
                        "name one of the machine's states",
                    );
                }
            }
        }
    }
}

fn check_roles(descriptor: &Descriptor, problems: &mut Problems) {
    problems.add_duplicates("roles", descriptor.roles.iter().map(String::as_str));
    for name in &descriptor.roles {
        let at = format!("roles.{}", excerpt(name));
        let Some(role) = Role::from_name(name) else {
            let known: Vec<_> = Role::all().map(Role::name).collect();
            problems.add(at, "is not a role of this host", format!("use {}", known.join(", ")));
            continue;
        };
        let has = |name: &str| descriptor.actions.iter().any(|action| action.name == name);
        let missing: Vec<_> = role.actions().iter().copied().filter(|name| !has(name)).collect();
        if !missing.is_empty() {
            problems.add(
                at,
                format!("the host calls actions that are missing: {}", missing.join(", ")),
                "declare these actions, or leave the role out",
            );
        }
    }
}

fn check_annotations(descriptor: &Descriptor, problems: &mut Problems) {
    let mut seen = HashSet::new();
    for annotation in &descriptor.annotations {
        let at = format!("{}.annotations.{}", excerpt(&annotation.at), excerpt(&annotation.key));
        let at = at.trim_start_matches('.');
        if !is_annotation_key(&annotation.key) {
            problems.add(
                at,
                "is not a key",
                "use letters, digits and . _ - /, at most 128 characters, such as example.org/review",
            );
        }
        if !seen.insert((&annotation.at, &annotation.key)) {
            problems.add(at, "is given twice", "give each key once");
        }
        match &annotation.value {
            Err(error) => problems.add(at, format!("is not JSON: {error}"), "write JSON text"),
            Ok(value) if value.to_string().len() > ANNOTATION_BYTES => problems.add(
                at,
                format!("is larger than {ANNOTATION_BYTES} bytes"),
                "shorten the value, or refer to it by an address",
            ),
            Ok(value) if [WHILE_SUSPENDED, BY_PERSON].contains(&&*annotation.key) => {
                let actions = &mut descriptor.actions.iter();
                let is_write = actions.any(|action| {
                    action.access == Access::Write
                        && annotation.at == format!("actions.{}", action.name)
                });
                if !value.is_boolean() || !is_write {
                    problems.add(
                        at,
                        "is not true or false at an action of access write",
                        "move it to such an action, or leave it out",
                    );
                }
            }
            Ok(value) if annotation.key == NO_DRY_RUN => {
                let is_changing = |action: &ActionDescriptor| {
                    matches!(action.access, Access::Write | Access::Internal)
                        && annotation.at == format!("actions.{}", action.name)
                };
                if !value.is_boolean() || !descriptor.actions.iter().any(is_changing) {
                    problems.add(
                        at,
                        "is not true or false at an action of access write or internal",
                        "move it to such an action, or leave it out",
                    );
                }
            }
            Ok(value) if annotation.key == LEFT_OUT_OF_EXPORTS => {
                let collections = &mut descriptor.collections.iter();
                let is_collection = collections
                    .any(|collection| annotation.at == format!("collections.{}", collection.name));
                if !value.is_boolean() || !is_collection {
                    problems.add(
                        at,
                        "is not true or false at a collection",
                        "move it to a collection with copies of exports, or leave it out",
                    );
                }
            }
            Ok(value) if annotation.key == TOOLS => {
                check_tools(descriptor, annotation, value, problems);
            }
            Ok(value) if annotation.key == INTENTS => check_intents(annotation, value, problems),
            Ok(value) if annotation.key == PERSON_PAGE => {
                check_person_page(descriptor, annotation, value, problems);
            }
            Ok(value) if annotation.key == CONSEQUENCE => {
                check_consequence(descriptor, annotation, value, problems);
            }
            Ok(value) if annotation.key == PUBLISHED => {
                check_published(descriptor, annotation, value, problems);
            }
            Ok(_) => {}
        }
    }
}

fn is_annotation_key(key: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    !key.is_empty() && key.len() <= 128 && key.chars().all(is_allowed)
}

fn check_action(
    descriptor: &Descriptor,
    action: &ActionDescriptor,
    limits: &Limits,
    problems: &mut Problems,
) -> Option<Schemas> {
    let at = format!("actions.{}", excerpt(&action.name));
    let before = problems.0.len();
    if !is_snake_case(&action.name) {
        problems.add(&at, "is not snake_case", "use lower-case letters, digits and _");
    }
    check_line(&format!("{at}.title"), &action.title, 120, problems);
    check_text(&format!("{at}.description"), &action.description, 8_000, problems);
    if let Some(reason) = &action.deprecated {
        check_text(&format!("{at}.deprecated"), reason, REASON_CHARACTERS, problems);
    }
    for code in &action.errors {
        let known = descriptor.errors.iter().any(|error| error.code == *code)
            || ErrorCode::from_name(code).is_some_and(|code| code.row().component);
        if !known {
            problems.add(
                format!("{at}.errors"),
                format!("{:?} is not declared", excerpt(code)),
                "declare it in the descriptor's errors",
            );
        }
    }
    for (name, schema) in [("input", &action.input), ("output", &action.output)] {
        if let Ok(schema) = schema {
            check_schema_texts(&format!("{at}.{name}"), schema, problems);
        }
    }
    let input = action.input.clone().and_then(close).map_err(SchemaError::Invalid);
    let input = input.and_then(|input| Schema::new(input, limits.call_input_bytes));
    let output = action.output.clone().map_err(SchemaError::Invalid);
    let output = output.and_then(|output| Schema::new(output, limits.call_output_bytes));
    for (name, error) in [("input", input.as_ref().err()), ("output", output.as_ref().err())] {
        if let Some(error) = error {
            problems.add(
                format!("{at}.{name}"),
                format!("the schema {error}"),
                match error {
                    SchemaError::Invalid(_) => {
                        "correct the schema, or the type or the annotation that it is made from"
                    }
                    SchemaError::TooComplex { .. } => TOO_COMPLEX_FIX,
                },
            );
        }
    }
    let (input, output) = (input.ok()?, output.ok()?);
    for field in RESERVED_FIELDS {
        if input.document().pointer(&format!("/properties/{field}")).is_some() {
            problems.add(
                format!("{at}.input"),
                format!("the field {field} is the host's"),
                "give the field another name",
            );
        }
    }
    for (number, example) in action.examples.iter().enumerate() {
        let fault = match example {
            Err(error) => Some(format!("is not JSON: {error}")),
            Ok(example) => input
                .violations(example)
                .map(|conflict| format!("breaks the input schema: {conflict}")),
        };
        if let Some(fault) = fault {
            problems.add(
                format!("{at}.examples.{number}"),
                fault,
                "write an input that the action accepts",
            );
        }
    }
    (problems.0.len() == before).then_some(Schemas { input, output })
}

fn is_path(path: &str) -> bool {
    let name = |name: &str| {
        let name = name.strip_suffix("[]").unwrap_or(name);
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    path.len() <= 128 && path.split('.').all(name)
}
