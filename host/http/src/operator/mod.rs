//! Who may use the operator's address, and with which token.

mod access;
mod socket;
mod token;

pub use access::OperatorAccess;
pub(super) use access::require_operator;
pub use socket::{OperatorSocket, SOCKET_FILE};
pub use token::{OperatorToken, TOKEN_FILE};
