//! The email address of a person, on their account page.

use crate::App;
use portolan_identity::{EmailView, IdentityError, Session};
use portolan_vocabulary::{ErrorCode, Failure};

/// Returns what the account page shows; `None` if the host sends no emails, or none to this person.
pub(super) async fn view(app: &App, owner_id: &str) -> Result<Option<EmailView>, IdentityError> {
    match app.host.emails.is_some() {
        true => app.host.identity.email_view(owner_id).await,
        false => Ok(None),
    }
}

/// Runs the step of a form about the address; `None` if no such form has this step.
pub(super) async fn submit(
    app: &App,
    session: &Session,
    step: &str,
    address: &str,
) -> Option<Result<(), Failure>> {
    let identity = &app.host.identity;
    let changed = match step {
        "give_email" => return Some(give(app, session, address).await),
        "start_emails" => identity.set_email_wanted(session, true).await,
        "stop_emails" => identity.set_email_wanted(session, false).await,
        "remove_email" => identity.remove_email(session).await,
        _ => return None,
    };
    Some(changed.map_err(Failure::from))
}

async fn give(app: &App, session: &Session, address: &str) -> Result<(), Failure> {
    let Some(status) = app.host.email_status().await? else {
        return Err(Failure::new(ErrorCode::NotPermitted).message("This host sends no emails."));
    };
    if view(app, &session.owner_id).await?.is_none() {
        return Err(Failure::new(ErrorCode::NotPermitted)
            .message("Nothing is sent to people of test mode, because anybody can be one."));
    }
    if status.confirms_no_more() {
        return Err(Failure::new(ErrorCode::RateLimited).message(
            "This host sends no more emails to confirm an address on this day. Try again tomorrow.",
        ));
    }
    Ok(app.host.identity.request_email(session, address).await?)
}
