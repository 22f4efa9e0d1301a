//! Files that are dropped as components, before anything compiles them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portolan_sandbox::{Program, screen, with_source};
use portolan_vocabulary::Digest;

fuzz_target!(|data: &[u8]| {
    let _screened = screen(data);
    let program = Program::new(data, Digest::of(data));
    if program.source().is_none() {
        let component = with_source(data, "greeter.js", "export default {}");
        let _source = Program::new(&component, Digest::of(&component)).source();
    }
});
