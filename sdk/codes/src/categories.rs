//! The categories of what an action can bring about for a person, which the annotation `portolan/consequence` names.

/// One category.
#[derive(Debug, Clone, Copy)]
pub struct Category {
    pub name: &'static str,
    /// The effect of an action of the category.
    pub meaning: &'static str,
}

/// The category of actions that change only what is the person's own. It is believed of components of the host's
/// publisher only.
pub const OWN: &str = "own";

/// Every category.
pub const CATEGORIES: [Category; 9] = [
    Category { name: "proposal", meaning: "proposes something to somebody, or answers a proposal" },
    Category { name: "message", meaning: "sends a message to somebody" },
    Category { name: "meeting", meaning: "proposes, confirms, moves or cancels a meeting" },
    Category { name: "application", meaning: "applies or enquires, or answers an application" },
    Category { name: "introduction", meaning: "introduces people, or vouches for somebody" },
    Category { name: "publication", meaning: "publishes something under the person's name" },
    Category { name: "payment", meaning: "spends money or credits" },
    Category {
        name: "account",
        meaning: "changes who acts for the person, their profile, their relations or their data",
    },
    Category { name: OWN, meaning: "changes only the person's own notes, drafts and settings" },
];

/// Returns whether there is a category with this name.
pub fn is_category(name: &str) -> bool {
    CATEGORIES.iter().any(|category| category.name == name)
}
