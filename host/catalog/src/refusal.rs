//! The reasons why the host refuses a file of the catalog folder.

use crate::{
    candidate::Candidate,
    known_failure::{Kind, KnownFailure},
    permission::Permission,
    problem::{Problem, TOO_COMPLEX_FIX},
    trust::Untrusted,
};
use portolan_sandbox::{
    CONTRACT, CompileError, DescribeError, Import, MAX_CORE_INSTANCES, MAX_MEMORIES, MAX_TABLES,
    PrepareError,
};
use portolan_signing::SignatureError;
use portolan_store::DbError;
use portolan_vocabulary::one_line;
use std::path::PathBuf;

/// The maximum number of bytes of the message of a refusal.
const MESSAGE_BYTES: usize = 2_000;

/// The reason why a file was refused.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("the file is empty")]
    Empty,
    #[error("the file has {size} bytes, more than the limit of {limit}")]
    TooLarge { size: u64, limit: u64 },
    #[error("not a regular file")]
    NotAFile,
    #[error("a link that leads out of the catalog folder, to {}", .0.display())]
    LeadsOutside(PathBuf),
    #[error("the file changed while it was read")]
    Changing,
    #[error("the file cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("not WebAssembly")]
    NotWasm,
    #[error("a core WebAssembly module, not a component")]
    CoreModule,
    #[error("native code, not WebAssembly")]
    NativeCode,
    #[error("a source whose text is not UTF-8")]
    NotText,
    #[error("a source in a language for which there is no engine: {} is missing", .file.display())]
    EngineMissing { language: &'static str, file: PathBuf },
    #[error(transparent)]
    Compile(#[from] CompileError),
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error(transparent)]
    Describe(#[from] DescribeError),
    #[error("{0}")]
    Known(KnownFailure),
    #[error("its description has {} problem{}", .0.len(), if .0.len() == 1 { "" } else { "s" })]
    Descriptor(Vec<Problem>),
    #[error("{0}")]
    Documents(DbError),
    #[error("its collections cannot be made ready: {0}")]
    Store(DbError),
    #[error(
        "the collection {collection} has {documents} documents of version {stored}, and this component declares version {declared} without an action `migrate`{}",
        .written.map_or_else(String::new, |written| format!("; {written} of them were written since version {declared} was replaced"))
    )]
    OtherVersion {
        collection: String,
        documents: u64,
        stored: u32,
        declared: u32,
        written: Option<u64>,
    },
    #[error(
        "it cannot migrate {failed} of {tried} documents of a sample of {collection}: {reason}"
    )]
    MigrationFails { collection: String, failed: usize, tried: usize, reason: String },
    #[error(
        "{documents} documents of {collection}, such as {example}, have a value of a unique index in common with others after their migration"
    )]
    MigrationConflicts { collection: String, documents: usize, example: String },
    #[error("two starts of the host ended while they loaded this file")]
    StartFailed,
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
    #[error("the id {id} is reserved")]
    ReservedId { id: String },
    #[error("the id {} belongs to {owner}, and this component is of {}", .candidate.id, .candidate.publisher)]
    PublisherMismatch { candidate: Box<Candidate>, owner: String },
    #[error("the id {id} looks like {other}, which belongs to another publisher")]
    LooksAlike { id: String, other: String },
    #[error("it publishes events of {namespace}, which belong to {owner}")]
    NamespaceTaken { candidate: Box<Candidate>, namespace: String, owner: String },
    #[error("version {version} of {id} is older than {highest}, which was served before")]
    Downgrade { id: String, version: String, highest: String },
    #[error(
        "version {version} of {id} was given to a share of callers, and its release was aborted"
    )]
    ReleaseAborted { id: String, version: String },
    #[error("it needs the operator's permission: {}", list(.missing))]
    PendingApproval { candidate: Box<Candidate>, missing: Vec<Permission> },
    #[error("the file {file} of the catalog folder serves {id}")]
    FileTaken { file: String, id: String },
    #[error("the catalog folder cannot be written: {0}")]
    FolderNotWritable(std::io::Error),
    #[error("the content of version {digest} is missing or damaged in the database")]
    ContentMissing { digest: String },
    #[error("the id {id} is served by {file} already")]
    DuplicateId { id: String, file: String },
    #[error("the id {id} would get the MCP tool name of {other}")]
    DuplicateToolName { id: String, other: String },
}

impl From<DbError> for LoadError {
    fn from(error: DbError) -> Self {
        match error {
            DbError::NotUnique(_) | DbError::Unindexable { .. } => Self::Documents(error),
            _ => Self::Store(error),
        }
    }
}

impl LoadError {
    /// Returns whether a decision of the operator can end the refusal.
    pub(super) fn can_be_decided(&self) -> bool {
        matches!(
            self,
            Self::PublisherMismatch { .. }
                | Self::NamespaceTaken { .. }
                | Self::Downgrade { .. }
                | Self::PendingApproval { .. }
        )
    }
}

impl LoadError {
    /// Returns what is wrong, in one line, because the text may quote the author.
    pub fn message(&self) -> String {
        one_line(&self.to_string(), MESSAGE_BYTES)
    }

    /// Returns whether the host failed, not the file: then the file is loaded again.
    pub(super) fn is_host_failure(&self) -> bool {
        match self {
            Self::Store(_) | Self::Compile(CompileError::Host(_)) => true,
            Self::Describe(error) => error.is_host_failure(),
            _ => false,
        }
    }

    /// Returns a code for programs.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLarge { .. } => "too_large",
            Self::NotAFile => "not_a_file",
            Self::LeadsOutside(_) => "leads_outside",
            Self::Changing => "changing",
            Self::Unreadable(_) => "unreadable",
            Self::NotWasm => "not_wasm",
            Self::CoreModule => "core_module",
            Self::NativeCode => "native_code",
            Self::NotText => "not_text",
            Self::EngineMissing { .. } => "engine_missing",
            Self::Compile(CompileError::Invalid(_)) => Kind::Invalid.reason(),
            Self::Compile(CompileError::OutOfTime(_)) => Kind::CompileTimeout.reason(),
            Self::Compile(CompileError::Crashed(_)) => Kind::CompileFailed.reason(),
            Self::Compile(CompileError::Host(_)) => "host_failed",
            Self::Known(known) => known.kind.reason(),
            Self::Prepare(PrepareError::UnknownImports(_)) => "unknown_import",
            Self::Prepare(PrepareError::Contract(_)) => "contract_mismatch",
            Self::Prepare(PrepareError::Artifact(_)) => "host_failed",
            Self::Prepare(PrepareError::ExceedsLimits(_)) => "exceeds_limits",
            Self::Describe(_) => Kind::Describe.reason(),
            Self::Descriptor(problems)
                if problems.iter().any(|problem| problem.fix == TOO_COMPLEX_FIX) =>
            {
                "schema_too_complex"
            }
            Self::Descriptor(_) => "bad_descriptor",
            Self::Documents(_) => "documents_do_not_fit",
            Self::OtherVersion { .. } => "documents_of_other_version",
            Self::MigrationFails { .. } | Self::MigrationConflicts { .. } => "migration_failed",
            Self::Store(_) => "host_failed",
            Self::StartFailed => "start_failed",
            Self::Untrusted(Untrusted::Signature(SignatureError::Malformed)) => "invalid",
            Self::Untrusted(Untrusted::Signature(_)) => "signature_invalid",
            Self::Untrusted(Untrusted::Unsigned) => "not_signed",
            Self::Untrusted(Untrusted::Key) => "key_not_trusted",
            Self::ReservedId { .. } => "reserved_id",
            Self::PublisherMismatch { .. } => "publisher_mismatch",
            Self::LooksAlike { .. } => "id_looks_alike",
            Self::NamespaceTaken { .. } => "namespace_taken",
            Self::Downgrade { .. } => "version_downgrade",
            Self::ReleaseAborted { .. } => "release_aborted",
            Self::PendingApproval { .. } => "pending_approval",
            Self::FileTaken { .. } => "file_taken",
            Self::FolderNotWritable(_) => "folder_not_writable",
            Self::ContentMissing { .. } => "content_missing",
            Self::DuplicateId { .. } => "duplicate_id",
            Self::DuplicateToolName { .. } => "duplicate_tool_name",
        }
    }

    /// Returns what to do about it.
    pub fn fix(&self) -> String {
        match self {
            Self::Empty | Self::Changing => "copy the whole file, best under another name, and rename it into place".to_owned(),
            Self::TooLarge { .. } => "build it smaller (release profile, stripped), or raise limits.component_bytes".to_owned(),
            Self::NotAFile => "copy the component's file itself into the folder".to_owned(),
            Self::LeadsOutside(_) => "copy the file into the catalog folder".to_owned(),
            Self::Unreadable(_) => {
                "allow the host's user to read it; a link must lead to a file in this folder"
                    .to_owned()
            },
            Self::NotWasm => "build a component: cargo build --target wasm32-wasip2".to_owned(),
            Self::CoreModule => "make it a component: build for wasm32-wasip2, or run `portolan componentize` on it".to_owned(),
            Self::NativeCode => "drop the .wasm component itself; the host compiles it and trusts no native code but its own".to_owned(),
            Self::NotText => "save the source as UTF-8".to_owned(),
            Self::EngineMissing { language, file } => format!("make the engine: portolan engine {language} --output {}; or build the source into a component with `portolan build`", file.display()),
            Self::Compile(CompileError::Invalid(_))
            | Self::Untrusted(Untrusted::Signature(SignatureError::Malformed)) => Kind::Invalid.fix().to_owned(),
            Self::Compile(CompileError::OutOfTime(_)) => Kind::CompileTimeout.fix().to_owned(),
            Self::Compile(CompileError::Crashed(_)) => Kind::CompileFailed.fix().to_owned(),
            Self::Known(known) => format!("{}; the host tries the same file again after a day, or with other limits", known.kind.fix()),
            Self::Compile(CompileError::Host(_)) | Self::Prepare(PrepareError::Artifact(_)) => "free space in the data folder, or let the host's user write there (`portolan doctor` says which); the host tries again within half a minute".to_owned(),
            Self::Prepare(PrepareError::ExceedsLimits(_)) => format!("build it with at most {MAX_MEMORIES} memories, {MAX_TABLES} tables and {MAX_CORE_INSTANCES} core instances, and with memories that start below limits.call_memory_bytes"),
            Self::Prepare(PrepareError::UnknownImports(imports)) => unknown_imports_fix(imports),
            Self::Prepare(PrepareError::Contract(_)) => format!("build it against package {CONTRACT}, world capability"),
            Self::Describe(error) if error.is_too_large() => Kind::DescriptionTooLarge.fix().to_owned(),
            Self::Describe(error) if error.has_last_words() => Kind::DescribeTrapped.fix().to_owned(),
            Self::Describe(_) => Kind::Describe.fix().to_owned(),
            Self::Descriptor(_) => "fix each problem below".to_owned(),
            Self::Documents(_) => "change the declared index, or correct the documents with the previous version; then copy the file again".to_owned(),
            Self::OtherVersion { .. } => "build it with an internal action `migrate`, or install the version that the documents have".to_owned(),
            Self::MigrationFails { .. } | Self::MigrationConflicts { .. } => "correct its action `migrate`; nothing was changed".to_owned(),
            Self::Store(_) => "nothing to do: the host tries again when its database answers; see its log".to_owned(),
            Self::StartFailed => "see the log of those starts; to try it again, copy the file again".to_owned(),
            Self::Untrusted(Untrusted::Signature(_)) => "get the component from its publisher again, or sign it again with `portolan sign`".to_owned(),
            Self::Untrusted(_) => "sign it with a key of trusted_keys in portolan.toml, or add its publisher's key there".to_owned(),
            Self::ReservedId { .. } => "choose an id that does not begin with svc., and is neither that of a capability that ships with the host nor the name of one of its MCP tools; an operator can leave an id out of reserved_ids".to_owned(),
            Self::PublisherMismatch { candidate, .. } => format!("remove the file; if the id is to change hands, with all its data, run `portolan catalog adopt {} --digest {}`", candidate.id, candidate.digest),
            Self::LooksAlike { .. } => "give it an id that cannot be confused with another one".to_owned(),
            Self::NamespaceTaken { candidate, .. } => format!("name its events after its own id; if these events are to change hands, run `portolan catalog adopt {} --digest {}`", candidate.id, candidate.digest),
            Self::Downgrade { id, .. } => format!("if you want the older version, run `portolan rollback {id}`"),
            Self::ReleaseAborted { id, .. } => format!("see `portolan release status {id}`; remove the file, or repair the version; to serve it as it is, publish it with `portolan publish`"),
            Self::PendingApproval { candidate, .. } => format!("if you trust it, run `portolan catalog approve {} --digest {}`", candidate.id, candidate.digest),
            Self::FileTaken { .. } => "give its file another name, with `portolan publish --name`".to_owned(),
            Self::FolderNotWritable(_) => "let the host's user write into the catalog folder, and look whether the disk is full".to_owned(),
            Self::ContentMissing { .. } => "publish the file again".to_owned(),
            Self::DuplicateId { .. } | Self::DuplicateToolName { .. } => "give it another id, or remove the other file first".to_owned(),
        }
    }

    /// Returns the problems of a descriptor; empty for other errors.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Descriptor(problems) => problems,
            _ => &[],
        }
    }
}

fn list(permissions: &[Permission]) -> String {
    permissions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn unknown_imports_fix(imports: &[Import]) -> String {
    match imports.iter().any(|import| import.name.starts_with("wasi:http")) {
        true => "this host offers no outgoing HTTP to components".to_owned(),
        false => format!("use only the interfaces of {CONTRACT} and of WASI 0.2"),
    }
}
