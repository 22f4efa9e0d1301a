//! Access control of the operator's address: the shared token, the socket and its users, and checks of Host
//! and Origin.

mod access;
mod socket;
mod token;

pub use access::OperatorAccess;
pub(super) use access::operator_bearer;
pub(super) use socket::SocketUser;
pub use socket::{OperatorSocket, SOCKET_FILE};
pub use token::{OperatorToken, TOKEN_FILE};
