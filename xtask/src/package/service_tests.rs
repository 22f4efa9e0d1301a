//! Tests of the packages that run the service: the package for Debian with its unit, and the image.

use super::{tests::run_ok, *};
use std::{os::unix::fs::PermissionsExt as _, process::Command};
use tempfile::TempDir;

/// The exposure of the unit in tenths, as `systemd-analyze security` rates it, must be below this.
const EXPOSURE: u32 = 20;

fn contents<'a>(folder: &'a Path, binary: &'a Path, license: &'a Path) -> Contents<'a> {
    Contents {
        binary,
        catalog: folder,
        version: "9.8.7",
        machine: Machine::X86_64,
        readme: license,
        license,
    }
}

/// Writes a package of a real program and of two components.
fn write<T>(folder: &Path, write: impl FnOnce(&Contents<'_>, &Path) -> Result<T>) -> T {
    let license = folder.join("LICENSE");
    fs::write(&license, "A licence\n").unwrap();
    for name in ["one.wasm", "two.wasm", "README.md"] {
        fs::write(folder.join(name), name).unwrap();
    }
    let binary = fs::canonicalize("/bin/sh").unwrap();
    write(&contents(folder, &binary, &license), folder).unwrap()
}

fn unit() -> PathBuf {
    workspace().join("packaging/portolan.service")
}

#[test]
fn the_package_for_debian_has_the_service_and_the_components() {
    let folder = TempDir::new().unwrap();
    let deb = write(folder.path(), deb::write);
    assert_eq!(deb.file_name().unwrap(), "portolan_9.8.7_amd64.deb");
    let field = |name: &str| run_ok(Command::new("dpkg-deb").arg("--field").arg(&deb).arg(name));
    assert_eq!(field("Version").trim(), "9.8.7");
    assert!(field("Depends").contains("libc6 (>= 2.28)"), "{}", field("Depends"));
    let list = run_ok(Command::new("dpkg-deb").arg("--contents").arg(&deb));
    for (mode, path) in [
        ("-rwxr-xr-x", "./usr/bin/portolan"),
        ("-rw-r--r--", "./usr/lib/systemd/system/portolan.service"),
        ("-rw-r--r--", "./etc/portolan/portolan.toml"),
        ("-rw-r--r--", "./usr/share/portolan/catalog/one.wasm"),
        ("-rw-r--r--", "./usr/share/portolan/catalog/two.wasm"),
        ("-rw-r--r--", "./usr/share/doc/portolan/operations.md"),
    ] {
        let line = list.lines().find(|line| line.ends_with(path));
        let line = line.unwrap_or_else(|| panic!("{path} is missing: {list}"));
        assert!(line.starts_with(mode) && line.contains(" root/root "), "{line}");
    }
    assert!(!list.contains("README"), "{list}");
    let control = folder.path().join("control");
    run_ok(Command::new("dpkg-deb").arg("--control").arg(&deb).arg(&control));
    for script in ["postinst", "prerm", "postrm"] {
        let script = control.join(script);
        assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o755);
        run_ok(Command::new("shellcheck").arg(&script));
    }
}

#[test]
fn the_unit_is_valid_and_hardened() {
    let folder = TempDir::new().unwrap();
    let text = fs::read_to_string(unit()).unwrap();
    // The program of the unit has to exist.
    let installed = folder.path().join("portolan.service");
    fs::write(&installed, text.replace("/usr/bin/portolan", "/bin/true")).unwrap();
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return;
    }
    run_ok(Command::new("systemd-analyze").arg("verify").arg(&installed));
    let mut rate = Command::new("systemd-analyze");
    rate.args(["security", "--offline=true", "--no-pager"]);
    run_ok(rate.arg(format!("--threshold={EXPOSURE}")).arg(&installed));
}

#[test]
fn the_image_has_what_the_program_needs_and_runs_it_as_nobody() {
    let folder = TempDir::new().unwrap();
    let image = write(folder.path(), image::write);
    let root = image.join("root");
    for path in ["usr/bin/portolan", "catalog/one.wasm", "etc/passwd", "data", "etc/portolan"] {
        assert!(root.join(path).exists(), "{path}");
    }
    let container = fs::read_to_string(image.join("Containerfile")).unwrap();
    assert!(container.contains("\nUSER 65534:65534\n"), "{container}");
    // Only root may change its root. The program is a shell here.
    let mut shell = Command::new("chroot");
    shell.args(["--userspec=65534:65534"]).arg(&root).args(["/usr/bin/portolan", "-c", "echo $0"]);
    let output = shell.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let is_refused = String::from_utf8_lossy(&output.stderr).contains("not permitted");
    assert!(is_refused || printed.contains("portolan"), "{output:?}");
}
