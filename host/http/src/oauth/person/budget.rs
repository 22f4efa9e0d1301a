//! The limit of the answers of capabilities on one page: a component that answers or declares very much does not use
//! up the memory of the host, nor of a browser.

/// The maximum number of inputs in all forms of a page, with the options of choices; a form is one as well.
const INPUTS: usize = 2_000;
/// The maximum number of bytes of all texts and values of a page.
const TEXT_BYTES: usize = 1 << 20;

/// The budget that is left for a page.
pub(super) struct Budget {
    inputs: usize,
    bytes: usize,
    is_spent: bool,
}

impl Budget {
    /// Returns the budget of a page on which nothing is yet.
    pub(super) const fn of_page() -> Self {
        Self { inputs: INPUTS, bytes: TEXT_BYTES, is_spent: false }
    }

    /// Returns whether a part of the page with so many inputs and bytes still fits, and takes them. After a part that
    /// does not fit, none does, so that no work is done for what is not shown.
    pub(super) const fn admit(&mut self, inputs: usize, bytes: usize) -> bool {
        let left = (self.inputs.checked_sub(inputs), self.bytes.checked_sub(bytes));
        match left {
            (Some(inputs), Some(bytes)) if !self.is_spent => {
                self.inputs = inputs;
                self.bytes = bytes;
                true
            }
            _ => {
                self.is_spent = true;
                false
            }
        }
    }

    /// Returns whether something did not fit.
    pub(super) const fn is_spent(&self) -> bool {
        self.is_spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_what_does_not_fit_nothing_does() {
        for (inputs, bytes) in [(INPUTS, 0), (0, TEXT_BYTES), (INPUTS, TEXT_BYTES)] {
            let mut budget = Budget::of_page();
            assert!(budget.admit(inputs, bytes) && !budget.is_spent());
            assert!(!budget.admit(1, 1) && budget.is_spent());
            assert!(!budget.admit(0, 0));
        }
    }
}
