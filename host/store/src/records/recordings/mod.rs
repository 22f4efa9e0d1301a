//! Recorded calls: added in batches, sealed, read, and removed when there are too many or they are too old.

mod read;
mod seal;
mod trim;
mod write;

pub use read::{OpenedRecording, RecordingEntry, RecordingQuery};
pub use trim::RecordingUse;
pub use write::NewRecording;
