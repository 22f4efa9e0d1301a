//! The permissions that an operator grants to components.

use portolan_sandbox::Grant;
use portolan_vocabulary::{Invocation, Role};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    str::FromStr,
};

/// One thing that an operator can permit a component to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Permission {
    /// To import a sensitive interface: `sms`.
    Interface(Grant),
    /// To call an action of another capability: `invoke:owners.people`.
    Invoke(Invocation),
    /// To receive a type of event: `subscribe:identity.claimed`.
    Subscribe(String),
    /// To have a sensitive role that is assigned to its id: `role:phone_verification`.
    Role(Role),
}

/// The permissions of components, by capability id. They are for the publisher to which the id belongs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grants(pub BTreeMap<String, BTreeSet<Permission>>);

impl Grants {
    pub(super) fn permit(&self, id: &str, permission: &Permission) -> bool {
        self.0.get(id).is_some_and(|permitted| permitted.contains(permission))
    }

    /// Returns these grants with others added.
    pub fn with(&self, more: impl IntoIterator<Item = (String, Permission)>) -> Self {
        let mut all = self.clone();
        for (id, permission) in more {
            all.0.entry(id).or_default().insert(permission);
        }
        all
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interface(grant) => write!(formatter, "{grant}"),
            Self::Invoke(Invocation { capability, action }) => {
                write!(formatter, "invoke:{capability}.{action}")
            }
            Self::Subscribe(event_type) => write!(formatter, "subscribe:{event_type}"),
            Self::Role(role) => write!(formatter, "role:{role}"),
        }
    }
}

impl From<Permission> for String {
    fn from(permission: Permission) -> Self {
        permission.to_string()
    }
}

impl TryFrom<String> for Permission {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Permission {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invocation = |text: &str| {
            let (capability, action) = text.rsplit_once('.')?;
            let named = !capability.is_empty() && !action.is_empty();
            named.then(|| Invocation { capability: capability.into(), action: action.into() })
        };
        let permission = match text.split_once(':') {
            Some(("invoke", text)) => invocation(text).map(Self::Invoke),
            Some(("subscribe", event_type)) => Some(Self::Subscribe(event_type.to_owned())),
            Some(("role", name)) => Role::from_name(name).map(Self::Role),
            Some(_) => None,
            None => Grant::all()
                .into_iter()
                .find(|grant| grant.to_string() == text)
                .map(Self::Interface),
        };
        permission.ok_or_else(|| {
            let interfaces: Vec<_> = Grant::all().iter().map(ToString::to_string).collect();
            format!(
                "{text:?} is not a permission: write {}, invoke:<id>.<action>, subscribe:<event type> or role:<role>",
                interfaces.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_is_read_as_it_is_written() {
        for text in [
            "sms",
            "invoke:svc.phone-binding.number",
            "subscribe:identity.claimed",
            "role:agent_management",
        ] {
            assert_eq!(text.parse::<Permission>().unwrap().to_string(), text);
        }
        for text in ["", "smss", "invoke:owners", "invoke:.x", "publish:x.y", "role:king"] {
            assert!(
                text.parse::<Permission>().unwrap_err().contains("is not a permission"),
                "{text}"
            );
        }
    }
}
