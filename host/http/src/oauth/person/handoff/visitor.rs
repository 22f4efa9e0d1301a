//! A person who has signed in, at the pages of handoffs.

use crate::{
    App,
    oauth::{account_session::zone_of, person::calls::PersonCalls},
};
use portolan_identity::{IdentityError, Session};
use portolan_vocabulary::Zone;
use std::{net::IpAddr, sync::Arc};

/// A person who has signed in, with the calls of this request.
pub(super) struct Visitor<'a> {
    pub(super) session: Session,
    pub(super) calls: PersonCalls<'a>,
    pub(super) zone: Zone,
}

impl<'a> Visitor<'a> {
    pub(super) async fn of(
        app: &'a App,
        session: Session,
        request_id: Arc<str>,
        address: Option<IpAddr>,
    ) -> Result<Self, IdentityError> {
        let calls = PersonCalls::of(app, &session, request_id, address).await?;
        let zone = zone_of(app, &session).await?;
        Ok(Self { session, calls, zone })
    }
}
