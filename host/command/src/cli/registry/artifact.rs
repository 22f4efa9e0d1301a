//! A component as an artifact of a registry, in the form of the CNCF's "Wasm OCI Artifact layout": one layer
//! with the component, and a configuration that says what it imports and exports.

use oci_client::{
    client::{Config, ImageLayer},
    manifest::{OCI_IMAGE_MEDIA_TYPE, OciImageManifest},
};
use portolan_catalog::Capability;
use portolan_sandbox::EXPORTS;
use portolan_vocabulary::{Digest, Timestamp};
use serde_json::json;
use std::collections::BTreeMap;

/// The media type of the layer.
pub(super) const LAYER: &str = "application/wasm";
/// The media type of the configuration.
pub(super) const CONFIG: &str = "application/vnd.wasm.config.v0+json";

/// A component with its manifest.
pub(super) struct Artifact {
    pub(super) manifest: OciImageManifest,
    pub(super) config: Config,
    pub(super) layer: ImageLayer,
}

impl Artifact {
    pub(super) fn new(capability: &Capability, content: Vec<u8>, created: Timestamp) -> Self {
        let imports: Vec<_> =
            capability.prepared.imports().iter().map(|import| import.name.as_str()).collect();
        let config = json!({
            "created": created,
            "architecture": "wasm",
            "os": "wasip2",
            "layerDigests": [Digest::of(&content)],
            "component": { "exports": EXPORTS, "imports": imports },
        });
        let config = Config::new(config.to_string().into_bytes(), CONFIG.to_owned(), None);
        let layer = ImageLayer::new(content, LAYER.to_owned(), None);
        let descriptor = &capability.descriptor;
        let annotations = BTreeMap::from([
            ("org.opencontainers.image.title".to_owned(), descriptor.title.clone()),
            ("org.opencontainers.image.description".to_owned(), descriptor.summary.clone()),
            ("org.opencontainers.image.version".to_owned(), descriptor.version.clone()),
        ]);
        let mut manifest =
            OciImageManifest::build(std::slice::from_ref(&layer), &config, Some(annotations));
        manifest.media_type = Some(OCI_IMAGE_MEDIA_TYPE.to_owned());
        Self { manifest, config, layer }
    }

    pub(super) fn bytes(&self) -> usize {
        self.layer.data.len()
    }
}
