//! Identities: agents, the OAuth clients that they authenticate with, their owners, and
//! the tokens that they present. This is the authorization server without its HTTP endpoints.
//!
//! # The modules, in reading order
//!
//! The base modules:
//!
//! - [`error`](IdentityError): why a caller, a client or a request is refused; `failure` turns that
//!   into the envelope that callers read.
//! - [`oauth`](OAuthError): OAuth's own error response, and the scopes.
//! - [`settings`](Settings): what an operator can set.
//! - `redirects`, `known_clients` and `metadata`: which redirect addresses a client may have, and its metadata.
//! - [`client`](Client): a client and its credentials.
//! - `relying_party`: what passkeys belong to.
//! - `secret`, `signer`, `keys`: secrets and their hashes, texts that the host signs for itself, and
//!   the key pairs of access tokens.
//! - `records`, `email_records`: the documents that the host stores of agents, clients, grants, sessions, and email
//!   addresses.
//! - `auth_action`, `failed_attempts`, `throttle`: what the audit log says about authentication, the failures
//!   on their way there, and the wait after wrong secrets.
//! - `operator_tokens`: the cached tokens of operators.
//! - `token`: the claims of an access token, and the cached token.
//! - `documents`: clients that are known by the address of a metadata document.
//!
//! The register, [`Identity`], is defined in `identity`. Each of the other modules adds the functions
//! of one topic to it:
//!
//! | topic | module | functions |
//! |---|---|---|
//! | agents | `register` | `register` |
//! | | `claim_link` | claim an agent on a page whose address the agent has got |
//! | | `claim` | the operations that components with the grant `identity` call, and a person's agents |
//! | | `sign_in` | agents that verify the phone number of a person who signs in |
//! | | `page_agent` | the agent as which a person acts on their own page |
//! | clients | `clients` | look up, register, update and delete a client |
//! | | `assertions` | authenticate a client |
//! | grants | `consents` | the consent of a person, for which a client gets an agent of theirs |
//! | | `authorize` | check an authorization request, issue an authorization code |
//! | | `device` | the device authorization grant |
//! | | `grants` | exchange a code or a refresh token, revoke a grant |
//! | people | `suspensions` | suspend and reinstate people |
//! | | `delivery` | the delivery rules of people |
//! | | `policies` | what a person's agents may do alone |
//! | | `emails` | the email addresses of people, and the links of emails |
//! | sessions | `progress` | the steps of a browser's sign-in |
//! | | `sessions` | start, list and end sessions; the end of all access of a person |
//! | | `ceremonies` | what a browser is asked to do with a passkey |
//! | | `mcp_sessions` | the sessions of MCP clients, with their agents |
//! | | `passkeys`, `passkey_sign_in` | add, list and remove passkeys; sign in with them |
//! | | `elicitation` | questions that a client asks its person during a call |
//! | tokens | `tokens` | issue and verify access tokens |
//! | | `authenticate` | from a bearer token to the agent that calls |
//! | | `revoke` | revoke and introspect tokens, revoke an agent for an operator |
//! | operators | `operators` | add, renew and remove operators, authenticate them |
//! | audit log | `audit` | record what was done and what was refused |
//! | upkeep | `sweep` | remove records that have expired |
//!
//! # Invariants
//!
//! - The claim, a suspension, and the revocation of an agent, a client, a grant or a token, are read from
//!   the records and never from the token. They are cached for at most one second.
//! - A cached token is never accepted past its expiry: that is checked against the clock at each use.
//! - Secrets of clients, codes and cookies are never stored: only their SHA-256 hashes are.
//! - A refresh token and an authorization code never work twice; a second use revokes the grant.
//! - Only the caches of keys and documents expire by the system's time; every other time is from
//!   the clock of [`Identity`].

mod assertions;
mod audit;
mod auth_action;
mod authenticate;
mod authorize;
mod ceremonies;
mod claim;
mod claim_link;
mod client;
mod clients;
mod consents;
mod delivery;
mod device;
mod documents;
mod elicitation;
mod email_records;
mod email_sending;
mod emails;
mod error;
mod failed_attempts;
mod failure;
mod grants;
mod identity;
mod keys;
mod known_clients;
mod mcp_sessions;
mod metadata;
mod oauth;
mod operator_tokens;
mod operators;
mod page_agent;
mod passkey_sign_in;
mod passkeys;
mod policies;
mod progress;
mod records;
mod redirects;
mod register;
mod relying_party;
mod revoke;
mod secret;
mod sessions;
mod settings;
mod sign_in;
mod signer;
mod suspensions;
mod sweep;
mod throttle;
mod token;
mod tokens;

pub use assertions::ASSERTION_ALGORITHMS;
pub use auth_action::{AUTH_ACTIONS, AuthAction, AuthActionRow};
pub use authorize::{AuthorizationError, AuthorizationRequest};
pub use ceremonies::{Ceremony, CeremonyAnswer, CeremonyPurpose};
pub use claim_link::ClaimRequest;
pub use client::{Client, Credentials};
pub use clients::RegisteredClient;
pub use delivery::Recipients;
pub use device::{DeviceAuthorization, DeviceRequest};
pub use elicitation::Elicitation;
pub use email_sending::EmailRecipient;
pub use emails::{EmailLink, EmailView};
pub use error::IdentityError;
pub use grants::CodeRedemption;
pub use identity::{Identity, RESOURCE_METADATA};
pub use mcp_sessions::McpSession;
pub use metadata::{AUTH_METHODS, ClientMetadata, DEVICE_CODE, GRANTS};
pub use oauth::{OAuthError, OFFLINE_ACCESS, granted_scopes};
pub use operators::{DEFAULT_OPERATOR_DAYS, MAX_OPERATOR_DAYS};
pub use passkey_sign_in::PasskeySignIn;
pub use passkeys::PasskeyView;
pub use progress::{AccountRequest, SignInProgress, SignInPurpose};
pub use redirects::RedirectHosts;
pub use register::{Registered, Registration};
pub use sessions::{NewSession, Proof, Session};
pub use settings::Settings;
pub use token::{IssuedToken, LONGEST_LIFETIME_S, SHORTEST_LIFETIME_S, TOKEN_CACHE_CAPACITY};
