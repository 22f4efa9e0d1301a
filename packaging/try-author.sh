#!/bin/sh
# Tries the packages for authors as a stranger does, in an empty folder and an empty virtual environment: installs
# them, and in each language follows docs/plugin-guide.md until the capability of `portolan dev` answers over REST and
# over MCP. Then it saves the source 20 times, and waits each time for a call that the new code answers. It prints the
# times beside their goals. A wrong answer is an error; a missed goal is not.
#
# With Python 3.9 or newer and curl, and for each language its toolchain (rustup; Node.js and npm); a language whose
# toolchain is missing is left out:
#   try-author.sh WHEEL NPM-PACKAGE [rust|js|ts|python]…
# ROUNDS=N saves N times. What the toolchains lack is installed from the public registries and is not counted.
set -eu
wheel=$(realpath "$1")
package=$(realpath "$2")
shift 2
for program in python3 curl; do
    command -v "$program" > /dev/null || { echo "the program $program is missing"; exit 1; }
done
base=$(mktemp -d)
author=
trap 'rm -rf "$base"' EXIT
trap '[ -z "$author" ] || { kill "$author"; wait "$author"; }; exit 1' HUP INT TERM
mkdir "$base/work" "$base/tmp" "$base/cargo"
# What cargo and a checkout set for the programs that they start is not there for a stranger.
for name in $(env | sed -n 's/^\([A-Za-z_0-9]*\)=.*/\1/p'); do
    case $name in
        CARGO | CARGO_MANIFEST_* | CARGO_PKG_* | CARGO_BUILD_* | CARGO_TARGET_* | CARGO_NET_OFFLINE | CARGO_TERM_* | \
            RUSTC | RUSTC_* | RUSTFLAGS | RUSTUP_TOOLCHAIN | PORTOLAN_* | PYTHONPATH | PYTHONHOME | VIRTUAL_ENV | \
            NODE_PATH | LD_LIBRARY_PATH) unset "$name" ;;
    esac
done
# An empty folder, so that what a project depends on is downloaded; a mirror that the user has configured stays.
config=${CARGO_HOME:-$HOME/.cargo}/config.toml
[ ! -e "$config" ] || cp "$config" "$base/cargo/config.toml"
export CARGO_HOME="$base/cargo" TMPDIR="$base/tmp"
cd "$base/work"

cat > "$base/author.py" << 'PYTHON'
"""Does what an author does, and measures it: author.py BASE WHEEL NPM-PACKAGE ROUNDS [LANGUAGE…]"""

import json
import os
import pathlib
import queue
import signal
import statistics
import subprocess
import sys
import threading
import time

BASE = pathlib.Path(sys.argv[1])
WHEEL, PACKAGE = sys.argv[2:4]
ROUNDS = int(sys.argv[4])
NAME = "bookshelf"
# The time-outs in seconds: of an installation, of a first build, of a later one and a call.
INSTALLATION, FIRST, LATER = 900, 1800, 180
WITH_NPM = BASE / "npm/node_modules/.bin"
NPM = ["npm", "install", "--prefix", str(BASE / "npm"), "--no-audit", "--no-fund", "--loglevel", "error"]
PIP = [str(BASE / "venv/bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


class Wrong(Exception):
    """An answer, or something else that the packages do, is wrong."""


class Missing(Exception):
    """A toolchain cannot be had on this system."""


class Language:
    """What differs between the languages.

    `tools` are the commands that install what the toolchain lacks. `file` is the source that is saved: `old` in it is
    replaced by `new`, which adds a number to the count of books. `first` and `again` are the goals in seconds: to the
    first answer, and from a save to an answer.
    """

    def __init__(self, title, tools, file, old, new, first, again):
        self.title, self.tools, self.file, self.old, self.new = title, tools, file, old, new
        self.first, self.again = first, again


JS_TOOLS = [NPM + [PACKAGE], NPM + ["componentize-qjs", "esbuild"]]
COUNT_JS = ("books: books.count(),", "books: books.count() + %d,")
LANGUAGES = {
    "rust": Language(
        "Rust", [["rustup", "target", "add", "wasm32-unknown-unknown"]], "src/lib.rs",
        "(BOOKS.count(None)?,", "(BOOKS.count(None)? + %d,", 60, 1.0,
    ),
    "js": Language("JavaScript", JS_TOOLS, "index.js", *COUNT_JS, 15, 1.0),
    "ts": Language("TypeScript", JS_TOOLS, "index.ts", *COUNT_JS, 15, 1.0),
    "python": Language(
        "Python", [PIP + ["componentize-py"]], "app.py",
        '"books": BOOKS.count(),', '"books": BOOKS.count() + %d,', 30, 5.0,
    ),
}


def say(text):
    print(text, flush=True)


def install(command):
    """Runs a command that installs something, and returns its seconds."""
    started = time.monotonic()
    said = " ".join(command)
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=INSTALLATION,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"`{said}`: {error}") from error
    if done.returncode != 0:
        raise Missing(f"`{said}` failed: {done.stdout.strip()[-500:]}")
    return time.monotonic() - started


def run(command, folder, environment):
    """Runs a command of the author and returns what it prints."""
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=LATER,
    )
    if done.returncode != 0:
        raise Wrong(f"`{' '.join(command)}` failed: {done.stdout}")
    return done.stdout


class Dev:
    """A running `portolan dev`."""

    def __init__(self, folder, environment):
        # A session of its own, so that the compilers that it runs can be ended with it.
        self.process = subprocess.Popen(
            ["portolan", "dev"], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )
        self.printed, self.lines = [], queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def fail(self, what):
        raise Wrong(what + "; `portolan dev` printed:\n" + "\n".join(self.printed[-60:]))

    def line(self, beginning, within):
        """Waits until a line begins with a text, and returns the lines until then."""
        until, passed = time.monotonic() + within, []
        while True:
            try:
                line = self.lines.get(timeout=max(0, until - time.monotonic()))
            except queue.Empty:
                self.fail(f"there was no line {beginning!r} within {within} s")
            if line is None:
                self.fail("it ended")
            self.printed.append(line)
            passed.append(line)
            if line.startswith(beginning):
                return passed
            if line.startswith(("not built", "not loaded")):
                self.fail("the project is not served")

    def drain(self):
        """Discards the lines until now."""
        try:
            while (line := self.lines.get_nowait()) is not None:
                self.printed.append(line)
            self.fail("it ended")
        except queue.Empty:
            pass

    def end(self):
        if self.process.poll() is None:
            try:
                self.process.stdin.write("q\n")
                self.process.stdin.flush()
                self.process.wait(20)
            except (OSError, subprocess.TimeoutExpired):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(20)


def answer(curl):
    """Runs a line that `portolan dev` has printed, and returns the answer."""
    done = subprocess.run(
        ["sh", "-c", curl], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=LATER
    )
    text = done.stdout
    events = [line[len("data:"):] for line in text.splitlines() if line.startswith("data:")]
    try:
        return json.loads(events[-1] if events else text)
    except ValueError:
        raise Wrong(f"curl ends with {done.returncode}, and the answer is no JSON: {text!r}") from None


def counted(curl):
    """Returns the number of books that the action `overview` answers."""
    answered = answer(curl)
    try:
        result = answered["result"]
        if (result["borrowed"], result["yours"]) == (0, 0):
            return result["books"]
    except (KeyError, TypeError):
        pass
    raise Wrong(f"`overview` answers {answered}")


def curl_lines(printed):
    """Returns the lines to try the actions, by the comment above each."""
    pairs = zip(printed, printed[1:])
    return {name[2:]: curl for name, curl in pairs if name.startswith("# ") and curl.startswith("curl ")}


def check_mcp(title, curl):
    """Makes the call over MCP. Returns the number of books that it adds."""
    answered = answer(curl)
    try:
        called = answered["result"]
        result = called["structuredContent"]["result"]
        if not called.get("isError") and isinstance(result, dict):
            return 1 if title == "add over MCP" and result["id"] else 0
    except (KeyError, TypeError):
        pass
    raise Wrong(f"the call over MCP answers {answered}")


def measure(key, language, environment):
    """Returns the commands until the first answer, its seconds, and those of each save."""
    folder = BASE / "work" / key
    folder.mkdir()
    project = folder / NAME
    new = ["portolan", "new", NAME, "--lang", key]
    commands = [" ".join(new), f"cd {NAME}", "portolan dev"]
    started = time.monotonic()
    run(new, folder, environment)
    dev = Dev(project, environment)
    try:
        printed = dev.line("r: repeat", FIRST)
        curls = curl_lines(printed)
        over_mcp = next((title for title in curls if title.endswith(" over MCP")), None)
        if "overview" not in curls or over_mcp is None:
            dev.fail("it prints no line for `overview`, or none for MCP")
        if (books := counted(curls["overview"])) != 0:
            raise Wrong(f"there are {books} books at the beginning")
        added = check_mcp(over_mcp, curls[over_mcp])
        first = time.monotonic() - started
        if (books := counted(curls["overview"])) != added:
            raise Wrong(f"there are {books} books after the call over MCP, and not {added}")
        say(f"  answered after {first:.1f} s; saving {ROUNDS} times")
        return commands, first, saves(dev, language, project / language.file, curls["overview"], added)
    finally:
        dev.end()


def saves(dev, language, file, overview, books):
    """Saves the source with another number each time, and returns the seconds until a call is answered with it."""
    text = file.read_text()
    if text.count(language.old) != 1:
        raise Wrong(f"{language.file} of a new project does not have {language.old!r} once; adapt try-author.sh")
    times = []
    for number in range(1, ROUNDS + 1):
        # Whatever the last save has still caused ends.
        time.sleep(0.3)
        dev.drain()
        started = time.monotonic()
        file.write_text(text.replace(language.old, language.new % number))
        while True:
            left = LATER - (time.monotonic() - started)
            dev.line("serving ", max(0, left))
            if counted(overview) == books + number:
                break
        times.append(time.monotonic() - started)
    return times


def beside(seconds, goal):
    missed = "; goal missed" if seconds > goal else ""
    return f"{seconds:.2f} s (goal {goal:g} s{missed})"


def row(language, commands, first, times):
    middle = statistics.median(times) if times else float("nan")
    least_to_most = f"{min(times):.2f} to {max(times):.2f} s" if times else "–"
    cells = [
        language.title, str(len(commands)), beside(first, language.first), beside(middle, language.again), least_to_most
    ]
    return "| " + " | ".join(cells) + " |"


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    keys = sys.argv[5:] or list(LANGUAGES)
    for key in keys:
        if key not in LANGUAGES:
            sys.exit(f"{key} is none of {', '.join(LANGUAGES)}")
    subprocess.run(["python3", "-m", "venv", str(BASE / "venv")], check=True, timeout=INSTALLATION)
    seconds = install(PIP + ["--no-deps", "--no-index", WHEEL])
    say(f"pip has installed the wheel in {seconds:.1f} s")
    # The folder of the virtual environment without what activating it would change.
    path = os.pathsep.join([str(BASE / "venv/bin"), os.environ.get("PATH", "")])
    version = run(["portolan", "--version"], BASE / "work", os.environ | {"PATH": path}).strip()
    say(f"it is {version}")
    rows, left_out, wrong = [], [], []
    for key in keys:
        language = LANGUAGES[key]
        say(f"{language.title}: installing what its toolchain lacks, which is not counted")
        try:
            spent = sum(install(tool) for tool in language.tools)
        except Missing as missing:
            say(f"  left out: {missing}")
            left_out.append(language.title)
            continue
        say(f"  installed in {spent:.1f} s")
        is_npm = language.tools is JS_TOOLS
        own_path = os.pathsep.join([str(WITH_NPM), path]) if is_npm else path
        # Nothing that an earlier language has made is there.
        environment = os.environ | {"PATH": own_path, "PORTOLAN_CACHE_DIR": str(BASE / f"cache-{key}")}
        try:
            own = run(["portolan", "--version"], BASE / "work", environment).strip()
            if own != version:
                raise Wrong(f"the package for npm is {own}")
            commands, first, times = measure(key, language, environment)
            say("  " + "; ".join(commands))
            rows.append(row(language, commands, first, times))
        except (Wrong, OSError, subprocess.TimeoutExpired) as error:
            say(f"  WRONG: {error}")
            wrong.append(language.title)
    if rows:
        saved = f"save to answer, p50 of {ROUNDS}"
        say(f"\n| language | commands | first answers over REST and MCP | {saved} | least to most |\n|---|---|---|---|---|")
        for line in rows:
            say(line)
        say("")
    if left_out:
        say(f"left out: {', '.join(left_out)}")
    if wrong:
        sys.exit(f"wrong: {', '.join(wrong)}")
    if not rows:
        sys.exit("no language was tried")
    say("the packages make capabilities that answer over REST and over MCP")


main()
PYTHON
python3 "$base/author.py" "$base" "$wheel" "$package" "${ROUNDS:-20}" "$@" &
author=$!
wait "$author"
