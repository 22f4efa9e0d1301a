//! An action of a loaded capability.

use crate::schema::Schema;
use portolan_vocabulary::ActionDescriptor;

/// An action and its schemas.
#[derive(Debug)]
pub struct Action {
    pub descriptor: ActionDescriptor,
    pub schemas: Schemas,
}

/// The schemas of one action.
#[derive(Debug)]
pub struct Schemas {
    pub input: Schema,
    pub output: Schema,
}
