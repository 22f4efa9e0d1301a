//! The report of a trap: its name, the guest's last message, and the functions that were running.

use portolan_vocabulary::one_line;
use std::fmt;
use wasmtime::{Error, FrameInfo, FrameSymbol, Trap, WasmBacktrace};

/// The maximum number of frames that are kept.
const FRAMES: usize = 16;
/// The maximum number of bytes of the name of a function or a file.
const NAME_BYTES: usize = 200;
/// A function that Rust's standard library calls between a panic and the hook that reports it. The frames up
/// to this one belong to the panic's own machinery.
const PANIC_MACHINERY: &str = "__rust_end_short_backtrace";
/// The number of frames of one function from which a stack counts as exhausted by recursion.
const MIN_RECURSIONS: usize = 3;
/// The address from which a fault counts as below address 0. Rust and C put their own stack at the start of
/// the linear memory, where it grows down; below 0, the 32-bit addresses wrap around.
const BELOW_ZERO: u64 = 0x8000_0000;

/// The trap of a guest, for its author and the operator. Callers never read it.
#[derive(Debug, Default)]
pub struct GuestTrap {
    /// The trap's name, such as `integer divide by zero`. Empty if the guest ended itself and said why.
    pub reason: String,
    /// The guest's last message, such as the text of a panic.
    pub last_words: Option<String>,
    /// Empty for a source that said why it trapped.
    pub stack: CallStack,
}

/// The functions that were running, the innermost first.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CallStack(Vec<Frame>);

/// A function that was running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub function: String,
    /// File, line and column, such as `src/lib.rs:12:5`, if the component has debug information and the
    /// sandbox reads it.
    pub location: Option<String>,
}

impl GuestTrap {
    pub(super) fn new(error: &Error, last_words: Option<String>, is_source: bool) -> Self {
        let backtrace = error.downcast_ref::<WasmBacktrace>();
        let all = backtrace.map(frames).unwrap_or_default();
        let has_ended_itself = error.downcast_ref() == Some(&Trap::UnreachableCodeReached);
        let reason = match is_stack_overflow(error, &all) {
            true => name(Trap::StackOverflow),
            false if has_ended_itself && last_words.is_some() => String::new(),
            false => reason(error, backtrace),
        };
        let stack = match is_source && last_words.is_some() {
            true => CallStack::default(),
            false => CallStack(without_panic_machinery(all)),
        };
        Self { reason, last_words, stack }
    }
}

impl fmt::Display for GuestTrap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = Some(self.reason.as_str()).filter(|reason| !reason.is_empty());
        let parts: Vec<_> = reason.into_iter().chain(self.last_words.as_deref()).collect();
        write!(formatter, "{}{}", parts.join(": "), self.stack)
    }
}

impl CallStack {
    /// Returns the functions that were running when a guest was ended. Empty for a source: they are functions of
    /// its engine.
    pub(super) fn new(error: &Error, is_source: bool) -> Self {
        let backtrace = error.downcast_ref::<WasmBacktrace>().filter(|_| !is_source);
        Self(without_panic_machinery(backtrace.map(frames).unwrap_or_default()))
    }
}

impl fmt::Display for CallStack {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, frame) in self.0.iter().enumerate() {
            let relation = if number == 0 { "; in" } else { ", called by" };
            write!(formatter, "{relation} {frame}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.function)?;
        match &self.location {
            Some(location) => write!(formatter, " ({location})"),
            None => Ok(()),
        }
    }
}

/// Returns a trap's name, without the prefix that says that it is a trap.
fn name(trap: Trap) -> String {
    let text = trap.to_string();
    text.strip_prefix("wasm trap: ").map_or_else(|| text.clone(), str::to_owned)
}

/// Returns the trap's name, or the texts of another error without the text of the frames.
fn reason(error: &Error, backtrace: Option<&WasmBacktrace>) -> String {
    if let Some(trap) = error.downcast_ref::<Trap>() {
        return name(*trap);
    }
    let frames = backtrace.map(ToString::to_string);
    let texts = error.chain().map(ToString::to_string);
    let texts: Vec<_> = texts.filter(|text| Some(text) != frames.as_ref()).collect();
    texts.join(": ")
}

/// Returns the frames of a backtrace. An inlined function is a frame too.
fn frames(backtrace: &WasmBacktrace) -> Vec<Frame> {
    backtrace.frames().iter().flat_map(inlined_frames).collect()
}

fn inlined_frames(frame: &FrameInfo) -> Vec<Frame> {
    let own_name = || match frame.func_name() {
        Some(name) => demangled(name),
        None => format!("function {}", frame.func_index()),
    };
    if frame.symbols().is_empty() {
        return vec![Frame { function: own_name(), location: None }];
    }
    let inlined = |symbol: &FrameSymbol| Frame {
        function: symbol.name().map_or_else(own_name, demangled),
        location: location(symbol),
    };
    frame.symbols().iter().map(inlined).collect()
}

/// Returns a function's name as it was written in the source, in one line.
fn demangled(name: &str) -> String {
    // The alternate form leaves out the hash.
    one_line(&format!("{:#}", rustc_demangle::demangle(name)), NAME_BYTES)
}

fn location(symbol: &FrameSymbol) -> Option<String> {
    let mut location = one_line(symbol.file()?, NAME_BYTES);
    for number in [symbol.line(), symbol.column()].into_iter().flatten() {
        location.push_str(&format!(":{number}"));
    }
    Some(location)
}

/// Returns the first [`FRAMES`] frames that are not of a panic's own machinery.
fn without_panic_machinery(frames: Vec<Frame>) -> Vec<Frame> {
    let machinery = frames.iter().rposition(|frame| frame.function.contains(PANIC_MACHINERY));
    let first = machinery.map_or(0, |last| last + 1);
    frames.into_iter().skip(first).take(FRAMES).collect()
}

/// Returns whether the call stack is exhausted: the engine's own, or the one that the guest's language
/// keeps in linear memory. The engine sees the latter as an access outside the memory.
fn is_stack_overflow(error: &Error, frames: &[Frame]) -> bool {
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => true,
        Some(Trap::MemoryOutOfBounds) => {
            fault_address(error).is_some_and(|address| address >= BELOW_ZERO)
                && is_recursion(frames)
        }
        _ => false,
    }
}

fn is_recursion(frames: &[Frame]) -> bool {
    let occurrences =
        |frame: &Frame| frames.iter().filter(|other| other.function == frame.function).count();
    frames.iter().any(|frame| occurrences(frame) >= MIN_RECURSIONS)
}

/// Returns the address of a memory fault; `None` for another error. The address is parsed from the error's
/// text, because wasmtime 48 keeps the type that contains it private.
fn fault_address(error: &Error) -> Option<u64> {
    error.chain().map(ToString::to_string).find_map(|text| {
        let address = text.strip_prefix("memory fault at wasm address 0x")?;
        u64::from_str_radix(address.split(' ').next()?, 16).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Backtraces, config};
    use wasmtime::{Engine, Instance, Module, Store};

    /// Runs the export `run` of a module with debug information, and returns how it trapped.
    fn trapped(wat: &str, backtraces: Backtraces) -> GuestTrap {
        let engine = Engine::new(&config(None, backtraces)).unwrap();
        let mut parser = wat::Parser::new();
        parser.generate_dwarf(wat::GenerateDwarf::Lines);
        let wasm = parser.parse_str(Some("shop.wat".as_ref()), wat).unwrap();
        let module = Module::new(&engine, wasm).unwrap();
        let mut store = Store::new(&engine, ());
        store.set_epoch_deadline(u64::MAX / 2);
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let run = instance.get_typed_func::<(), ()>(&mut store, "run").unwrap();
        GuestTrap::new(&run.call(&mut store, ()).unwrap_err(), None, false)
    }

    #[test]
    fn a_trap_names_the_functions_that_were_running() {
        let trap = trapped(
            r#"(module
                (func $_ZN4shop5price17h0123456789abcdefE unreachable)
                (func $run (export "run") call $_ZN4shop5price17h0123456789abcdefE))"#,
            Backtraces::Names,
        );
        let unreachable = name(Trap::UnreachableCodeReached);
        assert_eq!(trap.to_string(), format!("{unreachable}; in shop::price, called by run"));
    }

    #[test]
    fn backtraces_with_source_have_the_lines() {
        let wat = "(module\n  (func $price\n    unreachable)\n  (func (export \"run\")\n    call $price))";
        let locations = |backtraces| -> Vec<_> {
            trapped(wat, backtraces).stack.0.into_iter().map(|frame| frame.location).collect()
        };
        let lines = ["./shop.wat:3:5", "./shop.wat:5:5"].map(|location| Some(location.to_owned()));
        assert_eq!(locations(Backtraces::Source), lines);
        assert_eq!(locations(Backtraces::Names), [None, None]);
    }

    #[test]
    fn a_name_cannot_forge_lines_and_is_bounded() {
        let long = "x".repeat(500);
        let wat = format!(
            "(module (func $\"a\\nb{long}\" unreachable) (func (export \"run\") call $\"a\\nb{long}\"))"
        );
        let trap = trapped(&wat, Backtraces::Names);
        let function = &trap.stack.0[0].function;
        assert!(function.starts_with("a\\nbxx") && function.len() <= NAME_BYTES + 1, "{function}");
    }

    #[test]
    fn recursion_that_exhausts_either_stack_is_a_stack_overflow() {
        let engines = r#"(module (func $again (export "run") call $again))"#;
        // A stack of the guest's own, which grows down from 64 KiB, 4 KiB for each frame.
        let own = r#"(module
            (memory 2)
            (global $stack (mut i32) (i32.const 65536))
            (func $again (export "run")
                (global.set $stack (i32.sub (global.get $stack) (i32.const 4096)))
                (i32.store (global.get $stack) (i32.const 1))
                call $again))"#;
        for wat in [engines, own] {
            let trap = trapped(wat, Backtraces::Names);
            assert_eq!(trap.reason, name(Trap::StackOverflow));
            assert_eq!(trap.stack.0.len(), FRAMES);
        }
    }

    #[test]
    fn an_access_outside_the_memory_is_no_stack_overflow() {
        for address in ["-4", "200000"] {
            let wat = format!(
                r#"(module (memory 1)
                    (func (export "run") (i32.store (i32.const {address}) (i32.const 1))))"#
            );
            let trap = trapped(&wat, Backtraces::Names);
            assert_eq!(trap.reason, name(Trap::MemoryOutOfBounds), "{address}");
        }
    }

    #[test]
    fn the_machinery_of_a_panic_is_left_out() {
        let frame = |name: &str| Frame { function: name.to_owned(), location: None };
        let stack = ["rust_panic", "__rust_end_short_backtrace", "panic_fmt", "shop::price"];
        let kept = without_panic_machinery(stack.map(frame).into());
        assert_eq!(kept, ["panic_fmt", "shop::price"].map(frame));
        let deep = vec![frame("deep"); 40];
        assert_eq!(without_panic_machinery(deep).len(), FRAMES);
    }

    #[test]
    fn last_words_are_written_between_the_reason_and_the_frames() {
        let frames = vec![
            Frame { function: "price".to_owned(), location: Some("src/lib.rs:3:9".to_owned()) },
            Frame { function: "call".to_owned(), location: None },
        ];
        let trap = GuestTrap {
            reason: "unreachable".to_owned(),
            last_words: Some("no price".to_owned()),
            stack: CallStack(frames),
        };
        let text = "unreachable: no price; in price (src/lib.rs:3:9), called by call";
        assert_eq!(trap.to_string(), text);
    }
}
