//! Tests that pip and npm install the packages, made here of a small program.

use super::*;
use std::process::Command;
use tempfile::TempDir;

const PROGRAM: &str = "#!/bin/sh\necho \"portolan 9.8.7 $1\"\n";

/// Writes both packages of a small program into a folder.
fn write_packages(folder: &Path) -> (PathBuf, PathBuf) {
    let binary = folder.join("built");
    fs::write(&binary, PROGRAM).unwrap();
    let (readme, license) = (folder.join("README.md"), folder.join("LICENSE"));
    fs::write(&readme, "# A program\n").unwrap();
    fs::write(&license, "A licence\n").unwrap();
    let contents = Contents {
        binary: &binary,
        catalog: folder,
        version: "9.8.7",
        machine: Machine::X86_64,
        readme: &readme,
        license: &license,
    };
    (wheel::write(&contents, folder).unwrap(), npm::write(&contents, folder).unwrap())
}

pub(super) fn run_ok(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn assert_runs(program: &Path) {
    let printed = run_ok(Command::new(program).arg("runs"));
    assert_eq!(printed, "portolan 9.8.7 runs\n", "{}", program.display());
}

#[test]
fn pip_and_npm_install_the_program_without_a_network() {
    let folder = TempDir::new().unwrap();
    let (wheel, npm) = write_packages(folder.path());
    assert_eq!(wheel.file_name().unwrap(), "portolan-9.8.7-py3-none-manylinux_2_28_x86_64.whl");
    assert_eq!(npm.file_name().unwrap(), "portolan-9.8.7.tgz");
    assert_eq!(wheel::file(folder.path(), "9.8.7", Machine::X86_64), wheel);
    assert_eq!(npm::file(folder.path(), "9.8.7"), npm);

    let python = folder.path().join("python");
    let quiet = ["--quiet", "--disable-pip-version-check", "--root-user-action", "ignore"];
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--no-index", "--no-deps", "--ignore-installed"]);
    // The prefix is a temporary folder: pip replaces nothing that is installed on the system.
    pip.args(quiet).arg("--prefix").arg(&python).env("PIP_BREAK_SYSTEM_PACKAGES", "1");
    run_ok(pip.arg(&wheel));
    let installed = ["bin/portolan", "local/bin/portolan"].map(|program| python.join(program));
    assert_runs(installed.iter().find(|program| program.exists()).unwrap());

    let node = folder.path().join("node");
    let mut install = Command::new("npm");
    install.args(["install", "--global", "--offline", "--no-audit", "--no-fund", "--silent"]);
    run_ok(
        install
            .arg("--prefix")
            .arg(&node)
            .env("npm_config_cache", folder.path().join("cache"))
            .arg(&npm),
    );
    assert_runs(&node.join("bin/portolan"));
}

#[test]
fn the_record_of_the_wheel_has_the_digest_and_the_size_of_each_file() {
    let folder = TempDir::new().unwrap();
    let (wheel, _) = write_packages(folder.path());
    let list = "import sys, zipfile; print('\\n'.join(zipfile.ZipFile(sys.argv[1]).namelist()))";
    let names = run_ok(Command::new("python3").args(["-c", list]).arg(&wheel));
    let read =
        "import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]).decode())";
    let file =
        |name: &str| run_ok(Command::new("python3").args(["-c", read]).arg(&wheel).arg(name));
    let record = file("portolan-9.8.7.dist-info/RECORD");
    let recorded: Vec<_> =
        record.trim().lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(recorded, names.trim().lines().collect::<Vec<_>>());
    // Another program computed the digest:
    // `printf … | openssl dgst -sha256 -binary | basenc --base64url`.
    let program = "portolan-9.8.7.data/scripts/portolan,sha256=UdC8pARnddFwlPdz2iQWXlaww19FYY8_iecbZHL0FK8,35";
    assert!(record.lines().any(|line| line == program), "{record}");
    assert!(record.ends_with("portolan-9.8.7.dist-info/RECORD,,\n\n"), "{record}");
    let metadata = file("portolan-9.8.7.dist-info/METADATA");
    assert!(metadata.starts_with("Metadata-Version: 2.4\nName: portolan\nVersion: 9.8.7\n"));
    assert!(metadata.contains("\n\n# A program\n"), "{metadata}");

    // The same content gives the same file.
    let again = TempDir::new().unwrap();
    assert_eq!(fs::read(write_packages(again.path()).0).unwrap(), fs::read(wheel).unwrap());
}

#[test]
fn the_size_of_the_program_is_told_in_megabytes() {
    let folder = TempDir::new().unwrap();
    let binary = folder.path().join("built");
    fs::write(&binary, vec![0; 1_234_567]).unwrap();
    assert_eq!(size_of(&binary).unwrap(), "the program has 1234567 bytes (1.3 MB)");
    assert!(size_of(&folder.path().join("none")).is_err());
}
