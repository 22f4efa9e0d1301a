//! The host's side of `wit/`, generated.
#![allow(
    unreachable_pub,
    missing_debug_implementations,
    dead_code,
    clippy::all,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "generated"
)]

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "any-capability",
    imports: {
        "portolan:capability/context": trappable,
        "portolan:capability/platform": trappable,
        "portolan:capability/secrets": trappable,
        "portolan:capability/source": trappable,
        default: async | trappable,
    },
    exports: { default: async },
    additional_derives: [serde::Serialize, serde::Deserialize],
});

pub(super) use portolan::capability::*;

/// The package and the version of the contract.
pub const CONTRACT: &str = "portolan:capability@2.0.0";

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_is_that_of_the_package() {
        let package = format!("package {};", super::CONTRACT);
        assert!(include_str!("../../../wit/types.wit").contains(&package));
    }
}
