//! The catalog: the current capabilities. Files of the catalog folder become capabilities, and capabilities
//! become the next snapshot.
//!
//! A file that appears in the folder is read (`file`), compiled, prepared and described by the
//! sandbox, and its descriptor is checked (`load`, `check`). The result is a [`Capability`], or a
//! [`LoadError`] with a fix for the operator. The keeper holds the capabilities of all files and makes
//! a [`Snapshot`] of them after each change. A request takes one snapshot and keeps it to its end.
//!
//! # Modules, in reading order
//!
//! - `catalog`: the live catalog that the other crates use
//! - `start`, `attempt`, `keeper`: the start, and the one task that follows the folder
//! - `folder`, `file_name`, `file`: the folder's changes, its names, and the bytes of one file
//! - `load`: from a file to a capability
//! - `known_failure`, `failures`: which components failed before
//! - `problem`, `counts`, `check`: every problem of a descriptor
//! - `trust`, `candidate`, `admission`: who published a component, and whether it may have its id
//! - `reach`, `permission`: which other capabilities and events a component may reach, and what needs
//!   permission
//! - `decisions`: what the operator decides about components
//! - `prompts`, `roles`: what capabilities offer to MCP and to the host itself
//! - `migration`, `migrate_action`: the migration of stored documents, before a component serves
//! - `refusal`, `status`, `overview`: why a file was refused, and what the operator sees
//! - `publishing`, `install`, `desired`: versions that are published or rolled back to, on their way into the
//!   folder of this node and of the others
//! - `releases`, `follow_releases`, `release_requests`, `release_watch`: versions that a share of callers gets, which
//!   the keeper follows; the operator's requests about them; what is counted, and when one ends by itself
//! - `history`, `requests`: the record of versions, and the operator's requests to publish and to roll back
//! - `publish`, `snapshot`: the next snapshot and its version
//! - `other_nodes`: whether the nodes of a database serve the same
//! - `elsewhere`, `follow_nodes`: what only other nodes serve, whose subscribers get events too
//! - `difference`, `breaking`: what a change means to callers
//! - `lint`: advice for authors, beyond what a host requires
//! - `capability`, `action`: what is loaded, and how a body selects its action; `companion`: what the pipeline keeps
//!   with them
//! - `capability_tool`: the groups of actions that are its tools, and what people want with them
//! - `consequence`: what an action brings about for its caller's person
//! - `published`: the texts that programs read under secret addresses
//! - `person_page`, `plain_field`: what belongs on a person's page, and the fields that a form can have
//! - `schema`, `schema_cost`, `schema_part`: JSON Schemas, what violates them, the work that a check can take,
//!   and the part for one place
//! - `invalid_input`: the refusal of an invalid input
//! - `call_schema`, `listing`, `tool`, `fields`, `reference`, `document`: a capability's documents
//! - `fuzzing`: what only fuzz targets call
//!
//! # Invariants
//!
//! - A snapshot never changes.
//! - A bad file never removes a good capability: the file's earlier content is served until the new
//!   one is loaded.
//! - Two capabilities never have the same id or the same tool name.
//! - Nothing of a file is trusted before it is checked, and a hostile author's text is never repeated
//!   at full length.

mod action;
mod admission;
mod attempt;
mod breaking;
mod call_schema;
mod candidate;
mod capability;
mod capability_tool;
mod catalog;
mod check;
mod companion;
mod consequence;
mod counts;
mod decisions;
mod desired;
mod difference;
mod document;
mod elsewhere;
mod failures;
mod fields;
mod file;
mod file_name;
mod follow_nodes;
mod follow_releases;
mod folder;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod history;
mod install;
mod invalid_input;
mod keeper;
mod known_failure;
mod lint;
mod listing;
mod load;
mod migrate_action;
mod migration;
mod other_nodes;
mod overview;
mod permission;
mod person_page;
mod plain_field;
mod problem;
mod prompts;
mod publish;
mod published;
mod publishing;
mod reach;
mod reference;
mod refusal;
mod rehearsal;
mod release_requests;
mod release_watch;
mod releases;
mod requests;
mod roles;
mod schema;
mod schema_cost;
mod schema_part;
mod snapshot;
mod start;
mod status;
mod tool;
mod trust;

pub use action::{Action, Schemas};
pub use breaking::{find_breaking_changes, published_version, stored_conflicts};
pub use call_schema::branch;
pub use capability::{Capability, Input, Selected};
pub use capability_tool::{CapabilityTool, intents, tool_name};
pub use catalog::{Catalog, CatalogOptions};
pub use check::undeclared_people;
pub use companion::Companion;
pub use decisions::DecisionError;
pub use document::Document;
pub use fields::{Field, Side, fields};
pub use file::read;
pub use file_name::is_source;
pub use known_failure::KnownFailure;
pub use lint::{lint, tool_tokens};
pub use listing::Page;
pub use load::{Inspection, inspect};
pub use other_nodes::{CatalogDifferences, OtherCatalog};
pub use permission::{Grants, Permission};
pub use person_page::{PersonFile, PersonPage};
pub use plain_field::{PlainField, PlainKind, has_choices, plain_field};
pub use problem::Problem;
pub use prompts::fill_prompt;
pub use published::PublishedText;
pub use publishing::{
    BreakingPolicy, Decider, PublishError, PublishRequest, PublishSettings, Published,
    PublishedState,
};
pub use reference::Reference;
pub use refusal::LoadError;
pub use release_requests::{ReleasePlan, ReleaseStatus};
pub use releases::{Release, ReleaseCounts};
pub use requests::{History, RolledBack, ServingVersion};
pub use roles::RoleStatus;
pub use schema::{Schema, SchemaError, hoist};
pub use snapshot::{Service, Snapshot};
pub use status::{Change, Loaded, MigrationStatus, Refused, ReleaseAtNode, Status};
pub use tool::ToolSchemas;
pub use trust::{Trust, Untrusted};
