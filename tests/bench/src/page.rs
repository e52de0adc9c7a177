//! The page with the figures.

/// The page, relative to the root of the repository. It is part of the guide, so it must be in the
/// folder of its package.
pub(crate) const PAGE: &str = "lock-runtime/src/docs/performance.md";

/// The plot that the page shows.
pub(crate) const PLOT: &str = "lock-runtime/src/docs/pictures/transfers.svg";

/// The marks before and after the figures.
const MARK: &str = "<!-- figures -->\n";

/// Replaces the figures in the text; `None` if it has no place for them.
pub(crate) fn with_figures(text: &str, figures: &str) -> Option<String> {
    let (before, rest) = text.split_once(MARK)?;
    let (_, after) = rest.split_once(MARK)?;
    Some(format!("{before}{MARK}{figures}{MARK}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_with_one_mark_stays_unchanged() {
        let text = format!("# Figures\n{MARK}old\n");
        assert_eq!(with_figures(&text, "new\n"), None);
    }
}
