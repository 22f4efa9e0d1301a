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

fn admin() -> PathBuf {
    workspace().join("packaging/debian/portolan-admin")
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
        ("-rwxr-xr-x", "./usr/sbin/portolan-admin"),
        ("-rw-r--r--", "./usr/lib/systemd/system/portolan.service"),
        ("-rw-r--r--", "./etc/portolan/portolan.toml"),
        ("-rw-r--r--", "./usr/share/portolan/catalog/one.wasm"),
        ("-rw-r--r--", "./usr/share/portolan/catalog/two.wasm"),
        ("-rw-r--r--", "./usr/share/doc/portolan/operations.md"),
        ("-rw-r--r--", "./usr/share/doc/portolan/monitoring.md"),
        ("-rw-r--r--", "./usr/share/portolan/monitoring/alerts.yaml"),
        ("-rw-r--r--", "./usr/share/portolan/monitoring/dashboard.json"),
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
    run_ok(Command::new("shellcheck").arg(admin()));
}

#[test]
fn the_secrets_of_the_service_are_for_root_from_the_beginning() {
    let postinst = fs::read_to_string(workspace().join("packaging/debian/postinst")).unwrap();
    let creation = "install -m 0600 -o root -g root /dev/null \"$environment\"";
    let (before, _) = postinst.split_once(creation).unwrap();
    assert!(before.contains("\nenvironment=/etc/portolan/environment\n"), "{postinst}");
    assert!(before.trim_end().ends_with("if [ ! -e \"$environment\" ]; then"), "{postinst}");
}

#[test]
fn commands_run_with_the_variables_of_the_service() {
    let folder = TempDir::new().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let program = folder.path().join("program");
    fs::write(&program, "#!/bin/sh\npwd\nenv\nprintf '<%s>\\n' \"$@\"\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let variables = "# a comment\nPORTOLAN_DATABASE_URL=\"postgres://u:p=x@h/db\"\n\nno variable\nPORTOLAN_SMS=$y";
    fs::write(folder.path().join("environment"), variables).unwrap();
    // Without systemd, and with the user of the test.
    let script = fs::read_to_string(admin()).unwrap();
    let mut changed = script.clone();
    for (from, to) in [
        ("environment=/etc/portolan/environment", format!("environment={}", place("environment"))),
        ("folder=/etc/portolan", format!("folder={}", place(""))),
        ("program=/usr/bin/portolan", format!("program={}", place("program"))),
        ("[ \"$(id -u)\" -ne 0 ]", "false".to_owned()),
        ("[ -d /run/systemd/system ]", "false".to_owned()),
        ("exec setpriv --reuid=\"$user\" --regid=\"$user\" --init-groups --", "exec".to_owned()),
    ] {
        assert!(script.contains(from), "{from}");
        changed = changed.replacen(from, &to, 1);
    }
    let mut command = Command::new("sh");
    command.args(["-c", &changed, "portolan-admin", "run", "two words", "$HOME"]);
    let printed = run_ok(command.env("PORTOLAN_LISTEN", "127.0.0.1:1"));
    let lines: Vec<_> = printed.lines().collect();
    for line in [
        "PORTOLAN_DATABASE_URL=postgres://u:p=x@h/db",
        "PORTOLAN_SMS=$y",
        "<run>",
        "<two words>",
        "<$HOME>",
    ] {
        assert!(lines.contains(&line), "{line}: {printed}");
    }
    assert!(!printed.contains("PORTOLAN_LISTEN"), "{printed}");
    // The variables and the folder are those of the unit.
    let service = fs::read_to_string(unit()).unwrap();
    assert!(service.contains("\nWorkingDirectory=/etc/portolan\n"), "{service}");
    assert!(service.contains("\nEnvironmentFile=-/etc/portolan/environment\n"), "{service}");
    assert!(service.contains("\nUser=portolan\nGroup=portolan\n"), "{service}");
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
    for path in ["usr/bin/portolan", "catalog/one.wasm", "etc/passwd", "etc/portolan"] {
        assert!(root.join(path).exists(), "{path}");
    }
    let container = fs::read_to_string(image.join("Containerfile")).unwrap();
    assert!(container.contains("\nUSER 65534:65534\n"), "{container}");
    // A volume at /data takes its owner from the image.
    assert!(image.join("writable/data").is_dir() && !root.join("data").exists());
    let (before, _) = container.split_once("\nVOLUME /data\n").unwrap();
    assert!(before.contains("\nCOPY --chown=65534:65534 writable/ /\n"), "{container}");
    // Only root may change its root. The program is a shell here.
    let mut shell = Command::new("chroot");
    shell.args(["--userspec=65534:65534"]).arg(&root).args(["/usr/bin/portolan", "-c", "echo $0"]);
    let output = shell.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let is_refused = String::from_utf8_lossy(&output.stderr).contains("not permitted");
    assert!(is_refused || printed.contains("portolan"), "{output:?}");
}
