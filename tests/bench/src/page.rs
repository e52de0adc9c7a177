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
    let [before, _, after] = parts(text)?;
    Some(format!("{before}{MARK}{figures}{MARK}{after}"))
}

fn parts(text: &str) -> Option<[&str; 3]> {
    let (before, rest) = text.split_once(MARK)?;
    let (figures, after) = rest.split_once(MARK)?;
    Some([before, figures, after])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = include_str!("../../../lock-runtime/src/docs/performance.md");

    /// The fields of each row of the figures in a text, without heads and headings.
    fn rows(text: &str) -> Vec<Vec<&str>> {
        let [_, figures, _] = parts(text).unwrap();
        let rows = figures.lines().filter_map(|line| line.strip_prefix("| "));
        let rows = rows.map(|row| row.trim_end_matches(" |").split(" | ").map(str::trim));
        let is_figure = |row: &Vec<&str>| row[1].starts_with(['≤', '≥']);
        rows.map(Iterator::collect).filter(is_figure).collect()
    }

    #[test]
    fn only_text_between_the_marks_is_replaced() {
        let text = "# Figures\n<!-- figures -->\nold\n\nolder\n<!-- figures -->\nprose\n";
        let new = text.replace("old\n\nolder", "new");
        assert_eq!(with_figures(text, "new\n"), Some(new));
        assert_eq!(with_figures("<!-- figures -->\nold\n", "new\n"), None);
    }

    #[test]
    fn the_page_explains_each_missed_goal_and_no_other() {
        let (_, reasons) = TEXT.split_once("# What is not reached").unwrap();
        let reasons = reasons.split_whitespace().collect::<Vec<_>>().join(" ");
        let explained: Vec<&str> = reasons.split("**").skip(1).step_by(2).collect();
        for row in rows(TEXT) {
            let is_missed = row[3].contains("no");
            assert_eq!(explained.contains(&row[0]), is_missed, "{}", row[0]);
        }
    }
}
