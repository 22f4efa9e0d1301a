//! The patterns of ids, for the schemas of inputs.

pub const OWNER_ID: &str = "^own_[0-9A-Za-z]{1,36}$";
pub const THREAD_ID: &str = "^thr_[0-9A-Za-z]{1,36}$";
pub const MESSAGE_ID: &str = "^msg_[0-9A-Za-z]{1,36}$";
