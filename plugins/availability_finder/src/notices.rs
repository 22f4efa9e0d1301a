//! The events, and who gets them. They have no text that a person wrote.

use crate::{documents::*, refusals::*, states::*, types::*};
use portolan_sdk::prelude::*;

/// Tells the people of a new group that they are invited.
pub(crate) fn invited(call: &Call, group: &Stored<Group>) -> Result<()> {
    let facts = Facts { group_id: Some(group.id.clone()), ..Facts::default() };
    let summary = "Somebody asks to find times that suit you, without seeing your calendar.";
    let data = Data::new(call, group.resource(), summary, facts).next(get(&group.id));
    for member in &group.value.members {
        group.publish(INVITED, Audience::Owner(member.owner_id.clone()), &data)?;
    }
    Ok(())
}

/// Tells the organizer what a person has answered.
pub(crate) fn answered(call: &Call, group: &Stored<Group>, answer: Membership) -> Result<()> {
    let facts =
        Facts { group_id: Some(group.id.clone()), answer: Some(answer), ..Facts::default() };
    let summary = "Somebody has answered whether they can be asked for times.";
    let data = Data::new(call, group.resource(), summary, facts).next(get(&group.id));
    let organizer = Audience::Owner(group.value.organizer.clone());
    Ok(group.publish(ANSWERED, organizer, &data)?)
}

/// Tells the voters, except the one who has opened it, that a poll waits for them.
pub(crate) fn poll_opened(call: &Call, poll: &Stored<Poll>) -> Result<()> {
    let facts = Facts { closes_at: Some(rfc3339(poll.value.closes_at)), ..of_poll(poll) };
    let data = Data::new(call, poll.resource(), "Somebody asks which times suit you.", facts);
    let data = data.next(get_poll(&poll.id));
    for voter in poll.value.voters.iter().filter(|voter| **voter != poll.value.organizer) {
        poll.publish(POLL_OPENED, Audience::Owner(voter.clone()), &data)?;
    }
    Ok(())
}

/// Tells all voters the chosen time. The person who has closed the poll, perhaps by the last vote,
/// is not told.
pub(crate) fn poll_closed(poll: &Stored<Poll>) -> Result<()> {
    let facts = Facts { start: poll.value.chosen.map(rfc3339), ..of_poll(poll) };
    let summary = "A poll about times is closed.";
    let data = Data::by_system(poll.resource(), summary, facts).next(get_poll(&poll.id));
    for voter in &poll.value.voters {
        poll.publish(POLL_CLOSED, Audience::Owner(voter.clone()), &data)?;
    }
    Ok(())
}

pub(crate) fn booked(call: &Call, booking: &Stored<Booking>) -> Result<()> {
    let data = Data::new(call, booking.resource(), "A meeting is booked.", of_booking(booking));
    to_attendees(call, booking, BOOKED, &data.next(get_booking(&booking.id)))
}

/// Tells that a booking is cancelled. One that ends because people can no longer meet does not say why.
pub(crate) fn cancelled(call: &Call, booking: &Stored<Booking>) -> Result<()> {
    let (summary, facts) = ("A booked meeting is cancelled.", of_booking(booking));
    let data = match call.owner_id() {
        Some(_) => Data::new(call, booking.resource(), summary, facts),
        None => Data::by_system(booking.resource(), summary, facts),
    };
    to_attendees(call, booking, CANCELLED, &data.next(get_booking(&booking.id)))
}

/// Publishes an event to all who take part, except the caller.
fn to_attendees(
    call: &Call,
    booking: &Stored<Booking>,
    event: FinderEvent,
    data: &Data<Facts>,
) -> Result<()> {
    let others = booking.value.attendees.iter();
    for attendee in others.filter(|attendee| Some(attendee.as_str()) != call.owner_id()) {
        booking.publish(event, Audience::Owner(attendee.clone()), data)?;
    }
    Ok(())
}

fn of_poll(poll: &Stored<Poll>) -> Facts {
    Facts {
        group_id: Some(poll.value.group_id.clone()),
        poll_id: Some(poll.id.clone()),
        ..Facts::default()
    }
}

fn of_booking(booking: &Stored<Booking>) -> Facts {
    Facts {
        booking_id: Some(booking.id.clone()),
        start: Some(rfc3339(booking.value.begins)),
        end: Some(rfc3339(booking.value.ends)),
        ..Facts::default()
    }
}
