//! The cost of an abuse for the host, and its bounds.

use std::{fmt, ops::Sub, time::Duration};

/// The cost that one address causes in its worst hour.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// The bytes by which the database grows.
    pub bytes: f64,
    /// The time of processors.
    pub cpu: Duration,
    /// The text messages, and their price.
    pub messages: f64,
    pub price: f64,
    /// The requests that the host sends to others.
    pub outgoing: u64,
    /// The sessions, connections or records that the attacker holds.
    pub held: u64,
}

impl Cost {
    /// Returns the cost of an hour of which a part was measured: the part of its minutes, and the part of the
    /// requests of each.
    pub fn scaled(self, minutes: f64, requests: f64) -> Self {
        Self {
            bytes: self.bytes * minutes,
            cpu: self.cpu.mul_f64(minutes * requests),
            messages: self.messages * minutes,
            price: self.price * minutes,
            ..self
        }
    }

    pub fn sending(self, outgoing: usize) -> Self {
        Self { outgoing: outgoing as u64, ..self }
    }

    pub fn holding(self, held: u64) -> Self {
        Self { held, ..self }
    }
}

impl Sub for Cost {
    type Output = Self;

    /// Returns what was spent between two measurements.
    fn sub(self, before: Self) -> Self {
        Self {
            bytes: (self.bytes - before.bytes).max(0.0),
            cpu: self.cpu.saturating_sub(before.cpu),
            messages: self.messages - before.messages,
            price: self.price - before.price,
            ..self
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.1} MB, {:.1} s", self.bytes / MEGABYTE, self.cpu.as_secs_f64())?;
        if self.messages > 0.0 {
            write!(formatter, ", {} messages for {:.1}", self.messages, self.price)?;
        }
        if self.outgoing > 0 {
            write!(formatter, ", {} requests", self.outgoing)?;
        }
        match self.held {
            0 => Ok(()),
            held => write!(formatter, ", holds {held}"),
        }
    }
}

const MEGABYTE: f64 = 1e6;

/// The highest cost that an abuse may have.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    megabytes: u32,
    cpu_s: u32,
    messages: u32,
    outgoing: u64,
    held: u64,
}

impl Bound {
    /// Returns a bound of the database's growth in megabytes, and of the processors' time in seconds.
    pub const fn new(megabytes: u32, cpu_s: u32) -> Self {
        Self { megabytes, cpu_s, messages: 0, outgoing: 0, held: 0 }
    }

    pub const fn messages(mut self, messages: u32) -> Self {
        self.messages = messages;
        self
    }

    pub const fn outgoing(mut self, outgoing: u64) -> Self {
        self.outgoing = outgoing;
        self
    }

    pub const fn held(mut self, held: u64) -> Self {
        self.held = held;
        self
    }

    /// Returns what is wrong with a cost: each part that is above the bound.
    pub fn faults(&self, cost: &Cost, with_processors: bool) -> Vec<String> {
        let processors = ("s", cost.cpu.as_secs_f64(), f64::from(self.cpu_s));
        let parts = [
            ("MB", cost.bytes / MEGABYTE, f64::from(self.megabytes)),
            ("messages", cost.messages, f64::from(self.messages)),
            ("requests", cost.outgoing as f64, self.outgoing as f64),
            ("held", cost.held as f64, self.held as f64),
        ];
        let parts = parts.into_iter().chain(with_processors.then_some(processors));
        let above = parts.filter(|(_, cost, bound)| cost > bound);
        above.map(|(unit, cost, bound)| format!("{cost:.1} {unit}, not {bound}")).collect()
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} MB, {} s", self.megabytes, self.cpu_s)?;
        if self.messages > 0 {
            write!(formatter, ", {} messages", self.messages)?;
        }
        if self.outgoing > 0 {
            write!(formatter, ", {} requests", self.outgoing)?;
        }
        match self.held {
            0 => Ok(()),
            held => write!(formatter, ", holds {held}"),
        }
    }
}
