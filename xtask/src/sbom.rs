//! `cargo xtask sbom`: the software bill of materials of the command, in the format of CycloneDX.
//!
//! It lists what is compiled for the binary: each package with its version, licence, checksum and
//! dependencies. It has no time and no random number, so that the same lockfile gives the same file.

use crate::run::{print_progress, workspace};
use anyhow::{Context as _, Result};
use cargo_metadata::{
    DependencyKind, Metadata, MetadataCommand, Node, Package, PackageId, TargetKind,
};
use clap::Args;
use cyclonedx_bom::{
    external_models::{spdx::SpdxExpression, uri::Purl},
    models::{
        bom::Bom,
        component::{Classification, Component, Components, Scope},
        dependency::{Dependencies, Dependency},
        hash::{Hash, HashAlgorithm, HashValue, Hashes},
        license::{LicenseChoice, Licenses},
        metadata,
    },
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::PathBuf,
};

/// The package whose dependencies are listed.
const ROOT: &str = "portolan";

/// Arguments of `cargo xtask sbom`.
#[derive(Debug, Args)]
pub(crate) struct Sbom {
    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "dist/portolan.cdx.json")]
    into: PathBuf,
    /// The compile target of the binary
    #[arg(long, value_name = "TARGET", default_value = "x86_64-unknown-linux-gnu")]
    target: String,
}

impl Sbom {
    pub(crate) fn run(self) -> Result<()> {
        let into = workspace().join(&self.into);
        if let Some(folder) = into.parent() {
            fs::create_dir_all(folder)?;
        }
        let bom = bill(&self.target)?;
        let count = bom.components.as_ref().map_or(0, |components| components.0.len());
        bom.output_as_json_v1_5(&mut fs::File::create(&into)?)?;
        print_progress(&format!("{}: {count} packages", into.display()));
        Ok(())
    }
}

/// Returns the bill of the binary for a compile target.
fn bill(target: &str) -> Result<Bom> {
    let options = ["--locked", "--filter-platform", target].map(str::to_owned);
    let metadata = MetadataCommand::new()
        .current_dir(workspace())
        .other_options(options)
        .exec()
        .context("cargo metadata failed")?;
    let graph = Graph::new(&metadata)?;
    let root = metadata.packages.iter().find(|package| package.name.as_str() == ROOT);
    let root = root.context("the workspace has no package portolan")?;
    let (linked, compiled) = (graph.reached(&root.id, is_linked), graph.reached(&root.id, is_used));
    let checksums = checksums()?;
    let (mut components, mut dependencies) = (Vec::new(), Vec::new());
    for id in &compiled {
        let package = graph.package(id)?;
        let needed = graph.edges(id, is_used).map(|id| Ok(reference(graph.package(id)?)));
        let needed: BTreeSet<String> = needed.collect::<Result<_>>()?;
        dependencies.push(Dependency {
            dependency_ref: reference(package),
            dependencies: needed.into_iter().collect(),
        });
        if *id != &root.id {
            let scope = if linked.contains(id) { Scope::Required } else { Scope::Excluded };
            components.push(Component {
                scope: Some(scope),
                ..component(Classification::Library, package, &checksums)?
            });
        }
    }
    components.sort_by(|left, right| left.bom_ref.cmp(&right.bom_ref));
    dependencies.sort_by(|left, right| left.dependency_ref.cmp(&right.dependency_ref));
    Ok(Bom {
        serial_number: None,
        metadata: Some(metadata::Metadata {
            component: Some(component(Classification::Application, root, &checksums)?),
            ..metadata::Metadata::default()
        }),
        components: Some(Components(components)),
        dependencies: Some(Dependencies(dependencies)),
        ..Bom::default()
    })
}

/// The resolved dependencies.
struct Graph<'a> {
    packages: HashMap<&'a PackageId, &'a Package>,
    nodes: HashMap<&'a PackageId, &'a Node>,
}

/// Whether a dependency is followed: its kind, and the package that is depended on.
type Followed = fn(DependencyKind, &Package) -> bool;

/// A dependency that is compiled for the build: itself, or what it runs.
fn is_used(kind: DependencyKind, _package: &Package) -> bool {
    kind != DependencyKind::Development
}

/// A dependency whose code is in the binary.
fn is_linked(kind: DependencyKind, package: &Package) -> bool {
    let is_macro = |kinds: &[TargetKind]| kinds.contains(&TargetKind::ProcMacro);
    kind == DependencyKind::Normal && !package.targets.iter().any(|target| is_macro(&target.kind))
}

impl<'a> Graph<'a> {
    fn new(metadata: &'a Metadata) -> Result<Self> {
        let resolve = metadata.resolve.as_ref().context("cargo metadata resolved nothing")?;
        Ok(Self {
            packages: metadata.packages.iter().map(|package| (&package.id, package)).collect(),
            nodes: resolve.nodes.iter().map(|node| (&node.id, node)).collect(),
        })
    }

    fn package(&self, id: &PackageId) -> Result<&'a Package> {
        self.packages.get(id).copied().with_context(|| format!("{id} is not described"))
    }

    /// Returns the packages that a package depends on.
    fn edges(&self, id: &PackageId, followed: Followed) -> impl Iterator<Item = &'a PackageId> {
        let edges = self.nodes.get(id).into_iter().flat_map(|node| &node.deps);
        let edges = edges.filter(move |edge| {
            let package = self.packages.get(&edge.pkg);
            let mut kinds = edge.dep_kinds.iter();
            package.is_some_and(|package| kinds.any(|kind| followed(kind.kind, package)))
        });
        edges.map(|edge| &edge.pkg)
    }

    /// Returns the package and all that it depends on, also indirectly.
    fn reached(&self, root: &'a PackageId, followed: Followed) -> BTreeSet<&'a PackageId> {
        let (mut reached, mut waiting) = (BTreeSet::from([root]), vec![root]);
        while let Some(id) = waiting.pop() {
            waiting.extend(self.edges(id, followed).filter(|id| reached.insert(id)));
        }
        reached
    }
}

/// Returns the name by which a bill refers to a package.
fn reference(package: &Package) -> String {
    format!("{}@{}", package.name, package.version)
}

fn component(
    kind: Classification,
    package: &Package,
    checksums: &BTreeMap<(String, String), String>,
) -> Result<Component> {
    let (name, version) = (package.name.to_string(), package.version.to_string());
    let mut component = Component::new(kind, &name, &version, Some(reference(package)));
    // A package of the workspace is in no registry.
    if package.source.is_some() {
        component.purl = Some(Purl::new("cargo", &name, &version)?);
    }
    if let Some(license) = &package.license {
        let expression = SpdxExpression::parse_lax(license.clone())
            .with_context(|| format!("the licence {license:?} of {name}"))?;
        component.licenses = Some(Licenses(vec![LicenseChoice::Expression(expression)]));
    }
    component.hashes = checksums.get(&(name, version)).map(|checksum| {
        let content = HashValue(checksum.clone());
        Hashes(vec![Hash { alg: HashAlgorithm::SHA_256, content }])
    });
    Ok(component)
}

/// Returns the checksums of the lockfile by name and version.
fn checksums() -> Result<BTreeMap<(String, String), String>> {
    let lockfile: toml::Table =
        toml::from_str(&fs::read_to_string(workspace().join("Cargo.lock"))?)?;
    let packages = lockfile.get("package").and_then(toml::Value::as_array);
    let entry = |package: &toml::Value| {
        let text = |name: &str| Some(package.get(name)?.as_str()?.to_owned());
        Some(((text("name")?, text("version")?), text("checksum")?))
    };
    Ok(packages.into_iter().flatten().filter_map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::cargo_command;
    use cyclonedx_bom::validation::Validate as _;

    const TARGET: &str = "x86_64-unknown-linux-gnu";

    /// Returns the packages that cargo compiles for the binary, as `name@version`.
    fn build_graph() -> BTreeSet<String> {
        let mut command = cargo_command(&["tree", "--locked", "--package", ROOT]);
        command.args(["--edges", "normal,build", "--prefix", "none", "--no-dedupe"]);
        command.args(["--format", "{p}", "--target", TARGET]).current_dir(workspace());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed = String::from_utf8(output.stdout).unwrap();
        let package = |line: &str| {
            let mut words = line.split(' ');
            let (name, version) = (words.next().unwrap(), words.next().unwrap());
            format!("{name}@{}", version.trim_start_matches('v'))
        };
        printed.lines().map(package).collect()
    }

    #[test]
    fn the_bill_lists_every_package_of_the_build_graph() {
        let mut json = Vec::new();
        bill(TARGET).unwrap().output_as_json_v1_5(&mut json).unwrap();
        let bom = Bom::parse_from_json_v1_5(json.as_slice()).unwrap();
        let validated = bom.validate_version(cyclonedx_bom::models::bom::SpecVersion::V1_5);
        assert!(validated.passed(), "{validated:?}");
        let components = bom.components.unwrap().0;
        let listed = components.iter().map(|component| component.bom_ref.clone().unwrap());
        let root = bom.metadata.unwrap().component.unwrap();
        let listed: BTreeSet<String> = listed.chain(root.bom_ref).collect();
        let built = build_graph();
        assert!(built.len() > 100);
        let missing: Vec<_> = built.difference(&listed).collect();
        assert!(missing.is_empty(), "{missing:?}");
        for component in &components {
            let name = component.bom_ref.as_deref().unwrap();
            assert!(component.licenses.is_some(), "{name}");
            assert_eq!(component.hashes.is_some(), component.purl.is_some(), "{name}");
        }
        let find = |name: &str| {
            components.iter().find(|component| component.name.to_string() == name).unwrap()
        };
        assert_eq!(find("wasmtime").scope, Some(Scope::Required));
        assert_eq!(find("syn").scope, Some(Scope::Excluded));
        assert!(find("wasmtime").hashes.is_some());
        assert!(find("portolan-http").purl.is_none());
        assert!(!String::from_utf8(json).unwrap().contains("file://"));
    }
}
