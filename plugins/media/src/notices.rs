//! The events of files, for their people.

use crate::{documents::*, refusals::*, types::*};
use portolan_sdk::prelude::*;

type Notice = (MediaEvent, &'static str);

const IS_READY: Notice = (READY, "A file of yours is ready.");
const IS_REFUSED: Notice = (REFUSED, "A file of yours was refused.");
const IS_HIDDEN: Notice = (HIDDEN, "A file of yours is hidden, after a report.");
const IS_REINSTATED: Notice = (SHOWN, "A file of yours that was hidden is shown again.");

pub(crate) fn ready(item: &Stored<Item>) -> Result<()> {
    notify(item, IS_READY)
}

pub(crate) fn refused(item: &Stored<Item>) -> Result<()> {
    notify(item, IS_REFUSED)
}

pub(crate) fn hidden(item: Stored<Item>) -> Result<()> {
    notify(&item, IS_HIDDEN)
}

pub(crate) fn reinstated(item: Stored<Item>) -> Result<()> {
    notify(&item, IS_REINSTATED)
}

fn notify(item: &Stored<Item>, (event, summary): Notice) -> Result<()> {
    let facts =
        Facts { media_id: item.id.clone(), kind: item.value.kind, reason: item.value.reason };
    let data = Data::by_system(item.resource(), summary, facts).next(get(&item.id));
    Ok(item.notify_owner(event, &data)?)
}
