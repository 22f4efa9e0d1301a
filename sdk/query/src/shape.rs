//! The shape of a collection: the paths, unique keys, texts and position that its index covers.

use super::Path;

/// The indexed parts of a collection's documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape {
    paths: Vec<Path>,
    uniques: Vec<Vec<Path>>,
    text: Vec<Path>,
    geo: Option<(Path, Path)>,
}

/// The reason why a shape cannot be indexed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    #[error("{0} is a reserved word of queries: give the field another name")]
    Reserved(Path),
    #[error("a unique index over {0} and {1}, which both have []: at most one path may have []")]
    TwoArrays(Path, Path),
    #[error("a unique index without paths: name at least one")]
    NoPaths,
    #[error("a position at {0}, which has []: name the path of one number")]
    ManyPositions(Path),
}

impl Shape {
    /// Makes a shape. `paths` are those of all indexes, unique or not, in any order and number; `geo` are the
    /// paths of the latitude and the longitude.
    pub fn new(
        paths: Vec<Path>,
        uniques: Vec<Vec<Path>>,
        text: Vec<Path>,
        geo: Option<(Path, Path)>,
    ) -> Result<Self, ShapeError> {
        if let Some(reserved) = paths.iter().find(|path| path.is_reserved()) {
            return Err(ShapeError::Reserved(reserved.clone()));
        }
        for unique in &uniques {
            if unique.is_empty() {
                return Err(ShapeError::NoPaths);
            }
            let mut arrays = unique.iter().filter(|path| path.is_multiple());
            if let (Some(first), Some(second)) = (arrays.next(), arrays.next()) {
                return Err(ShapeError::TwoArrays(first.clone(), second.clone()));
            }
        }
        let parts = geo.iter().flat_map(|(latitude, longitude)| [latitude, longitude]);
        if let Some(multiple) = parts.into_iter().find(|path| path.is_multiple()) {
            return Err(ShapeError::ManyPositions(multiple.clone()));
        }
        let mut distinct = Vec::with_capacity(paths.len());
        for path in paths {
            if !distinct.contains(&path) {
                distinct.push(path);
            }
        }
        Ok(Self { paths: distinct, uniques, text, geo })
    }

    /// Returns the paths that filters and sort orders can name, each once.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    pub fn uniques(&self) -> &[Vec<Path>] {
        &self.uniques
    }

    /// Returns the paths of texts, the one with the highest weight first.
    pub fn text(&self) -> &[Path] {
        &self.text
    }

    /// Returns the paths of latitude and longitude.
    pub fn geo(&self) -> Option<&(Path, Path)> {
        self.geo.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(texts: &[&str]) -> Vec<Path> {
        texts.iter().map(|text| Path::parse(text).unwrap()).collect()
    }

    fn error(paths: Vec<Path>, unique: Vec<Path>, geo: Option<(Path, Path)>) -> String {
        Shape::new(paths, vec![unique], Vec::new(), geo).unwrap_err().to_string()
    }

    #[test]
    fn a_path_is_indexed_once() {
        let declared = paths(&["kind", "owner.id", "kind"]);
        let shape = Shape::new(declared, Vec::new(), Vec::new(), None).unwrap();
        assert_eq!(shape.paths(), paths(&["kind", "owner.id"]));
    }

    #[test]
    fn what_no_query_could_answer_is_refused() {
        assert_eq!(
            error(paths(&["distance"]), paths(&["a"]), None),
            "distance is a reserved word of queries: give the field another name"
        );
        assert_eq!(
            error(paths(&["a"]), paths(&["a[]", "b", "c[].d"]), None),
            "a unique index over a[] and c[].d, which both have []: at most one path may have []"
        );
        assert!(error(paths(&["a"]), Vec::new(), None).contains("without paths"));
        let [latitude, longitude] = ["lat", "stops[].lon"].map(|path| Path::parse(path).unwrap());
        assert_eq!(
            error(paths(&["a"]), paths(&["a"]), Some((latitude, longitude))),
            "a position at stops[].lon, which has []: name the path of one number"
        );
    }
}
