//! Writes the table of embedded files: the contract, the SDKs, and the templates of `portolan new`.

use std::{
    collections::BTreeSet,
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
};
use toml::{Table, Value};

/// The folders whose files are embedded under the same path.
const FOLDERS: [&str; 7] = [
    "wit",
    SDKS,
    "examples/bookshelf-cases",
    "examples/bookshelf-rust",
    "examples/bookshelf-js",
    "examples/bookshelf-python",
    "host/command/templates",
];
const SDKS: &str = "sdk";
/// Folders of dependencies, of built files and of tests, which are not needed to build a
/// capability.
const EXCLUDED_FOLDERS: [&str; 7] =
    ["node_modules", "target", "tests", "test", "build", "dist", "__pycache__"];
const EXTENSIONS: [&str; 11] =
    ["wit", "toml", "rs", "json", "js", "mjs", "ts", "py", "md", "typed", "gitignore"];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Writes `embedded.rs`: the paths and texts of all embedded files, in the order of their paths.
pub(super) fn write() -> Result<()> {
    let package = env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo sets CARGO_MANIFEST_DIR")?;
    let workspace = Path::new(&package).join("../..").canonicalize()?;
    let mut files = BTreeSet::new();
    for folder in FOLDERS.map(|folder| workspace.join(folder)) {
        if folder.exists() {
            println!("cargo::rerun-if-changed={}", folder.display());
            collect(&folder, &mut files)?;
        }
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let manifest = out.join("sdk.toml");
    fs::write(&manifest, sdk_manifest(&workspace)?)?;
    let mut table = entry(Path::new("Cargo.toml"), &manifest);
    for file in &files {
        table += &entry(file.strip_prefix(&workspace)?, file);
    }
    Ok(fs::write(out.join("embedded.rs"), format!("&[\n{table}]\n"))?)
}

fn entry(path: &Path, file: &Path) -> String {
    format!("({:?}, include_str!({:?})),\n", path.to_string_lossy(), file.to_string_lossy())
}

fn collect(folder: &Path, files: &mut BTreeSet<PathBuf>) -> Result<()> {
    for file in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = file?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let extension = name.rsplit('.').next().unwrap_or_default();
        if path.is_dir() {
            if !EXCLUDED_FOLDERS.contains(&name.as_str()) && !name.starts_with('.') {
                collect(&path, files)?;
            }
        } else if EXTENSIONS.contains(&extension) {
            files.insert(path);
        }
    }
    Ok(())
}

/// Returns the manifest of a workspace that has only the packages of the SDK, with what they inherit from
/// this workspace. Warnings are off, because the authors who compile the SDK cannot fix them.
fn sdk_manifest(workspace: &Path) -> Result<String> {
    let root = manifest(&workspace.join("Cargo.toml"))?;
    let root = root.get("workspace").and_then(Value::as_table).ok_or("no workspace")?;
    let field = |name: &str| root.get(name).cloned().ok_or(format!("the workspace has no {name}"));
    let mut dependencies = field("dependencies")?;
    if let Some(table) = dependencies.as_table_mut() {
        table.retain(|_, dependency| is_sdk_or_external(dependency));
    }
    let mut members: Vec<_> = fs::read_dir(workspace.join(SDKS))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|folder| folder.join("Cargo.toml").exists())
        .filter_map(|folder| Some(format!("{SDKS}/{}", folder.file_name()?.to_str()?)))
        .collect();
    members.sort();
    let no_warnings = Table::from_iter([("warnings".to_owned(), Value::from("allow"))]);
    let inherited = Table::from_iter([
        ("resolver".to_owned(), field("resolver")?),
        ("members".to_owned(), members.into()),
        ("package".to_owned(), field("package")?),
        ("dependencies".to_owned(), dependencies),
        ("lints".to_owned(), Table::from_iter([("rust".to_owned(), no_warnings.into())]).into()),
    ]);
    Ok(Table::from_iter([("workspace".to_owned(), Value::Table(inherited))]).to_string())
}

/// Returns whether a dependency is a package of the SDK, or from outside this workspace.
fn is_sdk_or_external(dependency: &Value) -> bool {
    let path = dependency.get("path").and_then(Value::as_str);
    path.is_none_or(|path| Path::new(path).starts_with(SDKS))
}

fn manifest(path: &Path) -> Result<Table> {
    println!("cargo::rerun-if-changed={}", path.display());
    Ok(fs::read_to_string(path)?.parse()?)
}
