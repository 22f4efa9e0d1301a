//! The states of an export and of an erasure, and the transitions between them.

use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum ExportState {
    /// It waits for the host.
    Received,
    /// The host collects the data.
    Running,
    /// The archive can be downloaded.
    Ready,
    /// The archive was removed.
    Expired,
    /// The host could not collect the data. Another export can be started.
    Failed,
}

use ExportState::{Expired, Failed, Ready, Received, Running};

pub(crate) const EXPORT: Machine<ExportState> = Machine::new(
    "data_export",
    &[
        Transition::new("export", &[], &[Received]),
        Transition::internal("keep", &[Received, Running], &[Running, Ready]),
        Transition::internal("give_up", &[Received, Running], &[Failed]),
        Transition::new("download", &[Ready], &[]),
        Transition::internal("expire", &[Ready], &[Expired]),
    ],
);

#[choice(States)]
pub(crate) enum ErasureState {
    /// It is carried out at its time, unless it is cancelled.
    Scheduled,
    Cancelled,
    /// The host erases everything, and then this record too.
    CarriedOut,
}

use ErasureState::{Cancelled, CarriedOut, Scheduled};

pub(crate) const ERASURE: Machine<ErasureState> = Machine::new(
    "data_erasure",
    &[
        Transition::new("erase", &[], &[Scheduled]),
        Transition::internal("schedule_erasure", &[], &[Scheduled]),
        Transition::new("cancel", &[Scheduled], &[Cancelled]),
        Transition::internal("carry_out", &[Scheduled], &[CarriedOut]),
    ],
);
