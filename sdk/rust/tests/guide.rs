//! The plugin guide shows the example of the entity kit that is compiled as a documentation test.

#[test]
fn the_guide_shows_the_compiled_example_of_the_entity_kit() {
    let module = include_str!("../src/entity.rs");
    let guide = include_str!("../../../docs/plugin-guide.md");
    let documentation: String = module
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect();
    let example =
        documentation.split("```").nth(1).and_then(|block| block.strip_prefix("no_run\n"));
    assert!(guide.contains(example.expect("the module begins with an example")));
}
