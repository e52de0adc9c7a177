//! Whether a body's result is an error of its own, for any return type.

/// A result to be looked at.
///
/// For a `Result` the inherent method below is found first; for anything else, also for a type
/// parameter, the one of [`NotAResult`]. So the question needs no bound on the return type.
#[derive(Debug)]
pub struct Outcome<'a, R>(pub &'a R);

impl<T, E> Outcome<'_, Result<T, E>> {
    /// Whether the body failed by itself.
    pub fn failed(&self) -> bool {
        self.0.is_err()
    }
}

/// Return types that have no failure of their own.
pub trait NotAResult {
    /// Whether the body failed by itself: it cannot.
    fn failed(&self) -> bool;
}

impl<R> NotAResult for Outcome<'_, R> {
    fn failed(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic<R>(output: &R) -> bool {
        Outcome(output).failed()
    }

    #[test]
    fn only_a_results_own_error_is_a_failure() {
        type Alias = Result<u8, String>;
        assert!(Outcome(&Alias::Err(String::new())).failed());
        assert!(!Outcome(&Alias::Ok(1)).failed());
        assert!(!Outcome(&None::<u8>).failed());
        assert!(!Outcome(&()).failed());
    }

    #[test]
    fn a_type_parameter_is_not_looked_into() {
        assert!(!generic(&Err::<u8, u8>(1)));
    }
}
