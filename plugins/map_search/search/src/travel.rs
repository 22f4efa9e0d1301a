//! Travel times, estimated from straight distances.

use crate::{inputs::*, refusals::*};
use portolan_sdk::{documents::Circle, prelude::*};

/// The assumptions of the estimate for a mode.
struct Pace {
    mode: Mode,
    kmh: f64,
    /// The length of the way for each kilometre of straight distance.
    detour: f64,
    /// The minutes that every trip takes: to unlock, to wait, to park.
    start_minutes: f64,
}

/// Usual values in a city, by day.
const PACES: [Pace; 4] = [
    Pace { mode: Mode::Walk, kmh: 4.8, detour: 1.3, start_minutes: 0.0 },
    Pace { mode: Mode::Bike, kmh: 15.0, detour: 1.3, start_minutes: 2.0 },
    Pace { mode: Mode::Transit, kmh: 18.0, detour: 1.4, start_minutes: 8.0 },
    Pace { mode: Mode::Car, kmh: 24.0, detour: 1.4, start_minutes: 5.0 },
];

/// The estimate of minutes.
#[output]
pub struct Estimate {
    pub mode: Mode,
    /// Always true: nobody has measured the way.
    pub estimate: bool,
    /// The method, in words.
    pub method: String,
}

impl Mode {
    fn pace(self) -> &'static Pace {
        let [walk, others @ ..] = &PACES;
        others.iter().find(|pace| pace.mode == self).unwrap_or(walk)
    }

    /// Returns the estimated minutes for a straight distance, rounded up.
    pub fn minutes(self, distance_m: f64) -> u32 {
        let Pace { kmh, detour, start_minutes, .. } = self.pace();
        (start_minutes + distance_m / 1000.0 * detour / kmh * 60.0).ceil() as u32
    }

    /// Returns how many kilometres of straight distance are reached in these minutes; `None` if none are.
    fn reach_km(self, minutes: u32) -> Option<f64> {
        let Pace { kmh, detour, start_minutes, .. } = self.pace();
        let moving = f64::from(minutes) - start_minutes;
        (moving > 0.0).then(|| moving / 60.0 * kmh / detour)
    }

    /// Returns how the minutes of an answer were estimated.
    pub fn estimate(self) -> Estimate {
        let Pace { kmh, detour, start_minutes, .. } = self.pace();
        let method = format!(
            "the straight distance × {detour} at {kmh} km/h, and {start_minutes} min to start; no timetable, \
             traffic or map was used"
        );
        Estimate { mode: self, estimate: true, method }
    }
}

/// Returns the circle in which organisations are found: that of `near`, or the smaller one that is reached in time.
pub(crate) fn circle(filters: &Filters) -> Result<Option<Circle>> {
    let Some(near) = filters.near else {
        return match filters.travel {
            Some(_) => Err(missing_near("a point from which to travel")),
            None => Ok(None),
        };
    };
    let reach = filters.travel.and_then(|travel| Some((travel.mode, travel.max_minutes?)));
    let reach_km = reach.map(|(mode, minutes)| {
        let start = mode.pace().start_minutes;
        let expected = format!("more than {start} minutes, which every trip of this mode takes");
        mode.reach_km(minutes).ok_or_else(|| fault("/travel/max_minutes", "minimum", &expected))
    });
    let radius_km = match (near.radius_km, reach_km.transpose()?) {
        (Some(radius), Some(reach)) => radius.min(reach),
        (Some(radius), None) => radius,
        (None, Some(reach)) => reach,
        (None, None) => default_radius(),
    };
    let radius_m = radius_km * 1000.0;
    Ok(Some(Circle { latitude: near.lat, longitude: near.lng, radius_m }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_sdk::Refusal;

    fn filters(radius_km: Option<f64>, mode: Mode, max_minutes: Option<u32>) -> Filters {
        Filters {
            near: Some(Near { lat: 1.0, lng: 2.0, radius_km }),
            travel: Some(Travel { mode, max_minutes }),
            ..Filters::default()
        }
    }

    fn radius(radius_km: Option<f64>, mode: Mode, max_minutes: Option<u32>) -> f64 {
        circle(&filters(radius_km, mode, max_minutes)).ok().flatten().unwrap().radius_m
    }

    #[test]
    fn minutes_grow_with_the_detour_and_begin_with_the_start() {
        assert_eq!(Mode::Walk.minutes(0.0), 0);
        assert_eq!(Mode::Walk.minutes(800.0), 13);
        assert_eq!(Mode::Transit.minutes(0.0), 8);
        assert_eq!(Mode::Car.minutes(12_000.0), 47);
    }

    #[test]
    fn the_radius_is_what_is_reached_and_not_more_than_asked_for() {
        assert!((radius(None, Mode::Walk, Some(13)) - 800.0).abs() < 1.0);
        assert!((radius(Some(0.5), Mode::Walk, Some(13)) - 500.0).abs() < 1.0);
        assert!((radius(None, Mode::Walk, None) - 2000.0).abs() < 1.0);
        for mode in PACES.map(|pace| pace.mode) {
            let minutes = mode.minutes(radius(None, mode, Some(30)) - 1.0);
            assert_eq!(minutes, 30, "{mode:?}");
        }
    }

    #[test]
    fn travel_needs_a_start_and_time_to_begin() {
        let refused = |filters: &Filters| Refusal::from(circle(filters).unwrap_err()).conflict;
        let pointer = |filters| refused(&filters).unwrap()["errors"][0]["pointer"].clone();
        assert_eq!(pointer(filters(None, Mode::Transit, Some(8))), "/travel/max_minutes");
        assert_eq!(pointer(Filters { near: None, ..filters(None, Mode::Walk, None) }), "/near");
    }
}
