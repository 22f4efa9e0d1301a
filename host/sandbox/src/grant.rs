//! The permission grants that an operator can give a component.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A sensitive interface that an operator may allow a component to import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grant {
    Sms,
    Identity,
    Moderation,
    Inbox,
    Webhooks,
    Lookups,
    People,
    Delivery,
    Approvals,
    Blobs,
}

impl Grant {
    /// Returns the name of the interface, which configurations use as well.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Sms => "sms",
            Self::Identity => "identity",
            Self::Moderation => "moderation",
            Self::Inbox => "inbox",
            Self::Webhooks => "webhooks",
            Self::Lookups => "lookups",
            Self::People => "people",
            Self::Delivery => "delivery",
            Self::Approvals => "approvals",
            Self::Blobs => "blobs",
        }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
