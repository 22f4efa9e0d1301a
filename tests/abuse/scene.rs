//! The host that is attacked, and the measurement of an attack.

use crate::{
    abuse::{attacker::Attacker, cost::Cost, processor::ThreadTimes},
    harness::{Host, person::messages, time::MINUTE},
};
use std::{cell::Cell, time::Duration};

/// The requests of any kind that one address may send in a minute.
pub const REQUESTS: usize = 3000;
/// The requests that one address sends in an hour where the host counts none: a thousand in each second.
pub const UNCOUNTED: usize = 3_600_000;
/// The minutes of the worst hour: all of a limit is there at its begin, and refills in each minute.
const MINUTES: u32 = 61;

/// The time without a change of the database after which a host is at rest.
const REST: Duration = Duration::from_secs(1);

/// A time in which the host shares the use of each limit with other nodes.
const EXCHANGE: Duration = Duration::from_secs(2);

/// Areas of North America, of which 555 0100 to 555 0199 are reserved for fiction.
const AREAS: [u16; 40] = [
    201, 202, 203, 205, 206, 207, 208, 209, 210, 212, 213, 214, 215, 216, 217, 218, 219, 224, 225,
    228, 301, 302, 303, 304, 305, 307, 308, 309, 310, 312, 313, 314, 315, 316, 317, 318, 319, 320,
    321, 323,
];

/// The part of an hour that an attack carries out. The cost of the whole hour is computed from it.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How often the attack is repeated, and the time in between.
    windows: u32,
    step: Duration,
    /// The number of such windows in an hour for each that is carried out.
    minutes: f64,
    /// The number of requests in a window for each that is sent.
    requests: f64,
}

impl Pace {
    /// An attack that is not repeated within an hour, because nothing is left to use up.
    pub const ONCE: Self = Self { windows: 1, step: Duration::ZERO, minutes: 1.0, requests: 1.0 };
    /// An attack on a limit for an hour, which refills evenly. It ends two minutes early, because tokens from
    /// its beginning expire after an hour, during which the attack itself takes time.
    pub const HOURLY: Self =
        Self { windows: 7, step: Duration::from_secs(580), minutes: 1.0, requests: 1.0 };
    /// An attack on a limit for a minute, all of which are carried out.
    pub const EACH_MINUTE: Self =
        Self { windows: MINUTES, step: MINUTE, minutes: 1.0, requests: 1.0 };

    /// Repeats an attack each minute, but carries out only this number of windows; the cost is scaled up to
    /// the hour.
    pub fn minutes(windows: u32) -> Self {
        let minutes = f64::from(MINUTES) / f64::from(windows);
        Self { windows, step: MINUTE, minutes, requests: 1.0 }
    }

    /// Carries out only this number of windows, whose cost is taken as that of the hour.
    pub fn windows(self, windows: u32) -> Self {
        Self { windows, ..self }
    }

    /// Shortens the wait between windows by the time that a window itself moves the host's clock.
    pub fn taking(self, time: Duration) -> Self {
        Self { step: self.step.saturating_sub(time), ..self }
    }

    /// Sends only `sent` of the `of` requests of each window; the cost is scaled up to all of them.
    pub fn sampling(self, sent: usize, of: usize) -> Self {
        Self { requests: of as f64 / sent as f64, ..self }
    }

    /// Sends only `sent` of the requests of a flood that the host does not count; the cost is scaled up to
    /// `UNCOUNTED`.
    pub fn flood(sent: usize) -> Self {
        Self::ONCE.sampling(sent, UNCOUNTED)
    }
}

/// A host under attack.
pub struct Scene<'a> {
    pub host: &'a Host,
    networks: Cell<u8>,
    numbers: Cell<usize>,
}

impl<'a> Scene<'a> {
    pub fn new(host: &'a Host) -> Self {
        Self { host, networks: Cell::new(0), numbers: Cell::new(0) }
    }

    /// Returns an attacker in a network where nobody has been before.
    pub fn attacker(&self) -> Attacker<'a> {
        self.attackers(1).remove(0)
    }

    /// Returns attackers at this number of addresses of a network where nobody has been before.
    pub fn attackers(&self, number: u8) -> Vec<Attacker<'a>> {
        let network = self.networks.get() + 1;
        self.networks.set(network);
        (1..=number).map(|number| Attacker::new(self.host, network, number)).collect()
    }

    /// Returns a phone number of fiction that nobody has had before, each in a block of its own.
    pub fn number(&self) -> String {
        let number = self.numbers.get();
        self.numbers.set(number + 1);
        format!("+1{}55501{:02}", AREAS[number % AREAS.len()], number / AREAS.len())
    }

    /// Waits until the host has finished the writes that follow its start.
    pub async fn wait_until_at_rest(&self) {
        let (database, mut before) = (self.host.database(), 0.0);
        loop {
            let size = database.size().await;
            if size == before {
                return;
            }
            before = size;
            tokio::time::sleep(REST).await;
        }
    }

    /// Carries out an attack window by window; returns what it costs in an hour.
    pub async fn measure(&self, pace: Pace, window: impl AsyncFnMut()) -> Cost {
        self.measure_until(pace, window, async || self.host.wait_until_settled().await).await
    }

    /// Measures an attack after which something stays due, and so does not wait for the host to be at rest.
    pub async fn measure_unsettled(&self, pace: Pace, window: impl AsyncFnMut()) -> Cost {
        self.measure_until(pace, window, async || ()).await
    }

    async fn measure_until(
        &self,
        pace: Pace,
        mut window: impl AsyncFnMut(),
        settled: impl AsyncFn(),
    ) -> Cost {
        settled().await;
        let (before, threads) = (self.spent().await, ThreadTimes::now());
        for number in 0..pace.windows {
            if number > 0 {
                // The host counts what was used before the time moves on.
                self.host.advance(EXCHANGE).await;
                tokio::time::sleep(Duration::from_millis(50)).await;
                self.host.advance(pace.step.saturating_sub(EXCHANGE)).await;
            }
            window().await;
        }
        settled().await;
        let cpu = ThreadTimes::now().since(&threads);
        let spent = Cost { cpu, ..self.spent().await - before };
        spent.scaled(pace.minutes, pace.requests)
    }

    /// Returns what the host has spent since its start.
    async fn spent(&self) -> Cost {
        let messages = messages(self.host, 0).await.len() as f64;
        let metrics = self.host.operate("/metrics").await.text;
        let lines = metrics.lines();
        let spending = lines.filter(|line| line.starts_with("portolan_text_message_spending"));
        let price = spending.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum();
        Cost { bytes: self.host.database().size().await, messages, price, ..Cost::default() }
    }

    /// Returns the value of a metric.
    pub async fn metric(&self, name: &str) -> u64 {
        self.host.metric(name).await
    }
}
