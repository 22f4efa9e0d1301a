//! Where a listing is, and how exactly others may know it.

use crate::types::{Place, Precision};

/// A hundredth of a degree: about a kilometre. What is found, sorted and shown is on this grid, so
/// no number of questions tells more.
const GRID: f64 = 100.0;

impl Place {
    /// As everybody may know it. The label of an exact place may be an address, so it is left out.
    pub(crate) fn public(&self) -> Self {
        let fine = matches!(self.precision, Precision::Exact | Precision::Street);
        Self {
            lat: rounded(self.lat),
            lng: rounded(self.lng),
            label: self.label.clone().filter(|_| !fine),
            precision: if fine { Precision::Neighbourhood } else { self.precision },
        }
    }
}

fn rounded(degrees: f64) -> f64 {
    (degrees * GRID).round() / GRID
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(lat: f64, lng: f64, precision: Precision) -> Place {
        Place { lat, lng, label: Some("1 Main Street".into()), precision }
    }

    #[test]
    fn an_exact_place_is_public_as_its_neighbourhood_alone() {
        let public = place(37.774_93, -122.419_42, Precision::Exact).public();
        assert_eq!((public.lat, public.lng, public.label), (37.77, -122.42, None));
        assert_eq!(public.precision, Precision::Neighbourhood);
        let city = place(52.521, 13.405, Precision::City).public();
        assert_eq!((city.lat, city.precision), (52.52, Precision::City));
        assert!(city.label.is_some());
    }
}
