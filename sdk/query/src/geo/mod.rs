//! Positions on the WGS 84 ellipsoid, and distances between them.

mod area;

pub use area::{Bounds, Circle, Rectangle, band};

use std::{f64::consts::PI, ops::RangeInclusive};

/// The mean radius of the earth in metres (IUGG), which turns angles into metres.
const MEAN_RADIUS: f64 = 6_371_008.8;
const EQUATORIAL_RADIUS: f64 = 6_378_137.0;
const FLATTENING: f64 = 1.0 / 298.257_223_563;
const ECCENTRICITY_SQUARED: f64 = FLATTENING * (2.0 - FLATTENING);
const EVERY_LONGITUDE: RangeInclusive<f64> = -180.0..=180.0;

/// The reason why a position or a shape is invalid.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum GeoError {
    #[error("the latitude {0} is not from -90 to 90")]
    Latitude(f64),
    #[error("the longitude {0} is not from -180 to 180")]
    Longitude(f64),
    #[error("the radius {0} is not a number of metres above 0")]
    Radius(f64),
    #[error("the south of the rectangle, {south}, is above its north, {north}")]
    UpsideDown { south: f64, north: f64 },
}

/// A point on the ellipsoid, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    latitude: f64,
    longitude: f64,
}

/// Returns the coordinates in metres from the centre of the earth: x towards 0° N, 0° E, z towards
/// the north pole.
pub fn earth_centred(position: Position) -> [f64; 3] {
    let (sine, cosine) = position.latitude.to_radians().sin_cos();
    let (east, ahead) = position.longitude.to_radians().sin_cos();
    let normal = EQUATORIAL_RADIUS / (1.0 - ECCENTRICITY_SQUARED * sine * sine).sqrt();
    let height = normal * (1.0 - ECCENTRICITY_SQUARED) * sine;
    [normal * cosine * ahead, normal * cosine * east, height]
}

/// Returns the square of the chord, the straight line through the earth. The store's SQL adds in
/// the same order, so both results are equal to the last bit.
pub fn squared_chord([x, y, z]: [f64; 3], [to_x, to_y, to_z]: [f64; 3]) -> f64 {
    let (x, y, z) = (x - to_x, y - to_y, z - to_z);
    x * x + y * y + z * z
}

/// Returns the chord between two positions, the straight line through the earth.
pub fn chord_m(from: Position, to: Position) -> f64 {
    squared_chord(earth_centred(from), earth_centred(to)).sqrt()
}

/// Returns the arc of a chord. The arc differs from the distance over the ground by 0.005 % up to
/// 2 000 km and by 0.3 % up to 14 000 km; near the antipodes it is half the circumference.
pub fn distance_m(chord_m: f64) -> f64 {
    2.0 * MEAN_RADIUS * (chord_m / (2.0 * MEAN_RADIUS)).min(1.0).asin()
}

/// Returns the chord of a distance; `None` from half the circumference on, because a circle of that
/// radius is the whole earth.
pub fn chord_of_distance_m(distance_m: f64) -> Option<f64> {
    (distance_m < PI * MEAN_RADIUS)
        .then(|| 2.0 * MEAN_RADIUS * (distance_m / (2.0 * MEAN_RADIUS)).sin())
}

impl Position {
    pub fn new(latitude: f64, longitude: f64) -> Result<Self, GeoError> {
        check_latitude(latitude)?;
        check_longitude(longitude)?;
        Ok(Self { latitude, longitude })
    }

    pub fn latitude(&self) -> f64 {
        self.latitude
    }

    pub fn longitude(&self) -> f64 {
        self.longitude
    }
}

fn check_latitude(latitude: f64) -> Result<(), GeoError> {
    if (-90.0..=90.0).contains(&latitude) { Ok(()) } else { Err(GeoError::Latitude(latitude)) }
}

fn check_longitude(longitude: f64) -> Result<(), GeoError> {
    if EVERY_LONGITUDE.contains(&longitude) { Ok(()) } else { Err(GeoError::Longitude(longitude)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(latitude: f64, longitude: f64) -> Position {
        Position::new(latitude, longitude).unwrap()
    }

    #[test]
    fn positions_are_on_the_earth() {
        assert_eq!(
            Position::new(f64::NAN, 0.0).unwrap_err().to_string(),
            "the latitude NaN is not from -90 to 90"
        );
        assert!(Position::new(90.1, 0.0).is_err() && Position::new(0.0, 180.1).is_err());
    }

    #[test]
    fn distances_are_those_of_geodesics() {
        let (berlin, london, new_york) =
            (at(52.52, 13.405), at(51.5074, -0.1278), at(40.7128, -74.006));
        let (suva, apia) = (at(-18.1416, 178.4419), at(-13.8333, -171.7667));
        // The expected metres are from Vincenty's formula.
        for (from, to, geodesic) in [
            (berlin, at(48.8566, 2.3522), 879_699.0),
            (berlin, at(48.1351, 11.582), 504_689.0),
            (london, new_york, 5_585_234.0),
            (new_york, at(35.6762, 139.6503), 10_875_724.0),
            (at(-33.8688, 151.2093), at(1.3521, 103.8198), 6_300_859.0),
            (suva, apia, 1_151_052.0),
            (at(-33.9249, 18.4241), at(59.9139, 10.7522), 10_423_751.0),
        ] {
            let found = distance_m(chord_m(from, to));
            assert!((found / geodesic - 1.0).abs() < 0.003, "{found} for {geodesic}");
        }
    }

    proptest! {
        #[test]
        fn distances_and_chords_are_inverse(distance in 0.0..2e7) {
            let chord = chord_of_distance_m(distance).unwrap();
            prop_assert!((distance_m(chord) - distance).abs() < 1.0);
        }
    }
}
