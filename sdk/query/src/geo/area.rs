//! Circles and rectangles, and the bands of latitude and longitude to which an index narrows a search.

use super::{
    ECCENTRICITY_SQUARED, EQUATORIAL_RADIUS, EVERY_LONGITUDE, GeoError, Position, check_latitude,
    check_longitude, chord_of_distance_m, earth_centred, squared_chord,
};
use std::{f64::consts::PI, ops::RangeInclusive};

/// The ellipsoid's least radius of curvature, in metres: along a meridian at the equator.
const LEAST_RADIUS: f64 = EQUATORIAL_RADIUS * (1.0 - ECCENTRICITY_SQUARED);
/// A margin in radians, some millimetres on the ground: more than the errors of rounding.
const MARGIN: f64 = 1e-9;

const BANDS_PER_DEGREE: f64 = 20.0;

/// Every position within a distance of a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Circle {
    centre: Position,
    radius_m: f64,
}

/// A range of latitudes and a range of longitudes, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rectangle {
    south: f64,
    west: f64,
    north: f64,
    east: f64,
}

/// Conditions that every position in a shape satisfies.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// See [`band`].
    pub bands: RangeInclusive<i64>,
    pub latitudes: RangeInclusive<f64>,
    /// One of these ranges contains the longitude. There are two if the shape touches or crosses
    /// the antimeridian.
    pub longitudes: Vec<RangeInclusive<f64>>,
}

/// Returns the number of the band that contains a latitude. A band is 0.05 degrees (5.6 km) high;
/// bands are counted from the equator.
pub fn band(latitude: f64) -> i64 {
    (latitude * BANDS_PER_DEGREE).floor() as i64
}

impl Circle {
    pub fn new(latitude: f64, longitude: f64, radius_m: f64) -> Result<Self, GeoError> {
        let centre = Position::new(latitude, longitude)?;
        if !(radius_m.is_finite() && radius_m > 0.0) {
            return Err(GeoError::Radius(radius_m));
        }
        Ok(Self { centre, radius_m })
    }

    pub fn centre(&self) -> Position {
        self.centre
    }

    pub fn radius_m(&self) -> f64 {
        self.radius_m
    }

    /// Returns a circle with the same centre and another radius.
    pub fn with_radius(self, radius_m: f64) -> Self {
        Self { radius_m, ..self }
    }

    /// Returns the greatest [`squared_chord`] from the centre; `None` if the circle is the whole
    /// earth.
    pub fn squared_reach(&self) -> Option<f64> {
        chord_of_distance_m(self.radius_m).map(|chord| chord * chord)
    }

    pub fn squared_chord(&self, position: Position) -> f64 {
        squared_chord(earth_centred(self.centre), earth_centred(position))
    }

    pub fn contains(&self, position: Position) -> bool {
        self.squared_reach().is_none_or(|reach| self.squared_chord(position) <= reach)
    }

    /// Returns bounds that contain the circle. They also contain positions outside of it.
    pub fn bounds(&self) -> Bounds {
        let chord = chord_of_distance_m(self.radius_m).unwrap_or(f64::INFINITY);
        // Latitude and longitude are the direction of the ellipsoid's normal. The angle between the
        // normals of two points is at most the angle that their chord subtends in a sphere of the
        // least radius of curvature.
        let angle = 2.0 * (chord / (2.0 * LEAST_RADIUS)).min(1.0).asin() + MARGIN;
        let (latitude, longitude) =
            (self.centre.latitude.to_radians(), self.centre.longitude.to_radians());
        let (south, north) = (latitude - angle, latitude + angle);
        let longitudes = if north >= PI / 2.0 || south <= -PI / 2.0 {
            vec![EVERY_LONGITUDE]
        } else {
            let aside = (angle.sin() / latitude.cos()).min(1.0).asin() + MARGIN;
            let (west, east) = ((longitude - aside).to_degrees(), (longitude + aside).to_degrees());
            // Here the circle contains no pole, so it spans less than half of all longitudes.
            meridians(
                if west < -180.0 { west + 360.0 } else { west },
                if east > 180.0 { east - 360.0 } else { east },
            )
        };
        Bounds::new(south.to_degrees().max(-90.0), north.to_degrees().min(90.0), longitudes)
    }
}

impl Rectangle {
    /// Makes a rectangle. It crosses the antimeridian if `west` is greater than `east`.
    pub fn new(south: f64, west: f64, north: f64, east: f64) -> Result<Self, GeoError> {
        for latitude in [south, north] {
            check_latitude(latitude)?;
        }
        for longitude in [west, east] {
            check_longitude(longitude)?;
        }
        if south > north {
            return Err(GeoError::UpsideDown { south, north });
        }
        Ok(Self { south, west, north, east })
    }

    /// Returns south, west, north and east.
    pub fn edges(&self) -> [f64; 4] {
        [self.south, self.west, self.north, self.east]
    }

    pub fn contains(&self, position: Position) -> bool {
        self.bounds().contains(position)
    }

    /// Returns the exact bounds of the rectangle.
    pub fn bounds(&self) -> Bounds {
        Bounds::new(self.south, self.north, meridians(self.west, self.east))
    }
}

impl Bounds {
    fn new(south: f64, north: f64, longitudes: Vec<RangeInclusive<f64>>) -> Self {
        Self { bands: band(south)..=band(north), latitudes: south..=north, longitudes }
    }

    pub fn contains(&self, position: Position) -> bool {
        self.bands.contains(&band(position.latitude))
            && self.latitudes.contains(&position.latitude)
            && self.longitudes.iter().any(|range| range.contains(&position.longitude))
    }
}

/// Returns the ranges of longitude from west to east. 180 and -180 are one meridian, so a range that
/// contains one of them contains both.
fn meridians(west: f64, east: f64) -> Vec<RangeInclusive<f64>> {
    if west > east {
        vec![west..=180.0, -180.0..=east]
    } else if west == -180.0 && east == 180.0 {
        vec![EVERY_LONGITUDE]
    } else if east == 180.0 {
        vec![west..=east, -180.0..=-180.0]
    } else if west == -180.0 {
        vec![west..=east, 180.0..=180.0]
    } else {
        vec![west..=east]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(latitude: f64, longitude: f64) -> Position {
        Position::new(latitude, longitude).unwrap()
    }

    #[test]
    fn half_the_circumference_is_everywhere() {
        assert!(Circle::new(0.0, 0.0, 20_015_115.0).unwrap().contains(at(0.0, 180.0)));
        assert!(!Circle::new(0.0, 0.0, 20_015_100.0).unwrap().contains(at(0.0, 180.0)));
        let everywhere = Circle::new(10.0, 20.0, 1e9).unwrap();
        assert_eq!(everywhere.squared_reach(), None);
        assert_eq!(everywhere.bounds().bands, -1800..=1800);
        assert_eq!(everywhere.bounds().longitudes, [-180.0..=180.0]);
    }

    #[test]
    fn areas_are_checked() {
        for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Circle::new(0.0, 0.0, radius).is_err());
        }
        let error = Rectangle::new(5.0, 0.0, 4.0, 1.0).unwrap_err();
        assert_eq!(error.to_string(), "the south of the rectangle, 5, is above its north, 4");
    }

    #[test]
    fn the_antimeridian_is_one_line() {
        let fiji = Circle::new(-18.0, 179.9, 50_000.0).unwrap();
        assert!(fiji.contains(at(-18.0, -179.9)));
        assert_eq!(fiji.bounds().longitudes.len(), 2);
        let across = Rectangle::new(-20.0, 170.0, 0.0, -170.0).unwrap();
        assert!(across.contains(at(-20.0, -170.0)) && across.contains(at(-1.0, 175.0)));
        assert!(!across.contains(at(-1.0, 0.0)) && !across.contains(at(1.0, 175.0)));
        let up_to = Rectangle::new(-20.0, 170.0, 0.0, 180.0).unwrap();
        assert!(up_to.contains(at(-1.0, -180.0)) && !up_to.contains(at(-1.0, -179.0)));
    }

    #[test]
    fn a_pole_has_every_longitude() {
        let arctic = Circle::new(89.9, 30.0, 20_000.0).unwrap();
        assert!(arctic.contains(at(89.95, -150.0)));
        assert_eq!(arctic.bounds().longitudes, [-180.0..=180.0]);
        assert_eq!(*arctic.bounds().bands.end(), 1800);
    }

    fn positions() -> impl Strategy<Value = Position> {
        let latitude = prop_oneof![-90.0..=90.0, 89.0..=90.0, -90.0..=-89.0, -1.0..=1.0];
        let longitude = prop_oneof![-180.0..=180.0, 179.5..=180.0, -180.0..=-179.5];
        (latitude, longitude).prop_map(|(latitude, longitude)| at(latitude, longitude))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn a_circle_is_within_its_bounds(
            centre in positions(), to in positions(), toward in 0.0..1_f64, magnitude in 0.0..7.4_f64,
        ) {
            let radius: f64 = 10_f64.powf(magnitude);
            let circle = Circle::new(centre.latitude, centre.longitude, radius).unwrap();
            // A random position is rarely near the circle, so one within about its radius is tried
            // too.
            let scale: f64 = toward * radius / 111_000.0;
            let near = Position::new(
                (centre.latitude + scale * (to.latitude / 90.0)).clamp(-90.0, 90.0),
                (centre.longitude + scale * (to.longitude / 180.0) / centre.latitude.to_radians().cos())
                    .clamp(-180.0, 180.0),
            );
            for position in [to].into_iter().chain(near) {
                prop_assert!(!circle.contains(position) || circle.bounds().contains(position));
            }
        }

        #[test]
        fn bounds_hold_the_rim(centre in positions(), bearing in 0.0..360_f64, magnitude in 0.0..6.8) {
            let circle = Circle::new(centre.latitude, centre.longitude, 10_f64.powf(magnitude)).unwrap();
            let (mut inside, mut outside) = (0.0, PI);
            let along = |angle: f64| walk(centre, bearing, angle);
            for _ in 0..60 {
                let middle = (inside + outside) / 2.0;
                if circle.contains(along(middle)) { inside = middle } else { outside = middle }
            }
            prop_assert!(circle.bounds().contains(along(inside)), "{inside} {:?}", along(inside));
        }

    }

    /// Returns the point at this distance and direction, on a sphere.
    fn walk(from: Position, bearing: f64, angle: f64) -> Position {
        let (latitude, bearing) = (from.latitude.to_radians(), bearing.to_radians());
        let sine = latitude.sin() * angle.cos() + latitude.cos() * angle.sin() * bearing.cos();
        let aside = (bearing.sin() * angle.sin() * latitude.cos())
            .atan2(angle.cos() - latitude.sin() * sine);
        let longitude = (from.longitude + aside.to_degrees() + 540.0).rem_euclid(360.0) - 180.0;
        at(sine.clamp(-1.0, 1.0).asin().to_degrees(), longitude)
    }
}
