//! The operator of this host, as the discovery manifest names it.

use serde::{Deserialize, Serialize};

/// The `[provider]` table of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Provider {
    pub organization: String,
    /// The operator's website; the default is this host's page for agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The page with the operator's contact data; the default is the website.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
}

impl Default for Provider {
    fn default() -> Self {
        Self { organization: "Portolan".to_owned(), url: None, contact: None }
    }
}

impl Provider {
    /// Returns every fault of the settings, each with its fix.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.organization.trim().is_empty() {
            faults.push("provider.organization is empty: write a name".to_owned());
        }
        for (name, address) in [("url", &self.url), ("contact", &self.contact)] {
            let Some(address) = address else { continue };
            let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
            if rest.is_none_or(|rest| rest.is_empty() || rest.contains(['@', ' '])) {
                faults.push(format!(
                    "provider.{name} is not a web address: write the address of a page, such as https://example.org/contact"
                ));
            }
        }
        faults
    }
}
