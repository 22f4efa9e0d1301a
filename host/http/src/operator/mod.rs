//! Access control of the operator's address: tokens, the socket, and checks of Host and Origin.

mod access;
mod socket;
mod token;

pub use access::OperatorAccess;
pub(super) use access::require_operator;
pub use socket::{OperatorSocket, SOCKET_FILE};
pub use token::{OperatorToken, TOKEN_FILE};
