//! A value that another crate keeps with a part of the catalog, so that it need not look it up by name.

use std::{any::Any, sync::OnceLock};

/// Such a value. It is made at its first use and lives as long as the loaded version.
#[derive(Debug, Default)]
pub struct Companion(OnceLock<Box<dyn Any + Send + Sync>>);

impl Companion {
    /// Returns the value, which `make` makes at the first use; `None` if one of another type is kept.
    pub fn get_or_init<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        self.0.get_or_init(|| Box::new(make())).downcast_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once() {
        let companion = Companion::default();
        assert_eq!(companion.get_or_init(|| 7), Some(&7));
        assert_eq!(companion.get_or_init(|| 8), Some(&7));
        assert_eq!(companion.get_or_init(|| "other"), None);
    }
}
