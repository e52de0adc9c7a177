//! The place of the figures in a text.

/// The marks before and after the figures.
const MARK: &str = "<!-- figures -->\n";

/// The text with other figures; `None` if it has no place for them.
pub(crate) fn with_figures(text: &str, figures: &str) -> Option<String> {
    let [before, _, after] = parts(text)?;
    Some(format!("{before}{MARK}{figures}{MARK}{after}"))
}

/// The text between the marks.
#[cfg(test)]
pub(crate) fn figures(text: &str) -> Option<&str> {
    parts(text).map(|[_, figures, _]| figures)
}

fn parts(text: &str) -> Option<[&str; 3]> {
    let (before, rest) = text.split_once(MARK)?;
    let (figures, after) = rest.split_once(MARK)?;
    Some([before, figures, after])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_between_the_marks_is_replaced_and_no_other() {
        let text = "# Figures\n<!-- figures -->\nold\n\nolder\n<!-- figures -->\nprose\n";
        let new = with_figures(text, "new\n").unwrap();
        assert_eq!(
            new,
            "# Figures\n<!-- figures -->\nnew\n<!-- figures -->\nprose\n"
        );
        assert_eq!(with_figures(&new, "new\n"), Some(new));
    }

    #[test]
    fn the_readme_and_the_page_have_a_place_for_figures() {
        let readme = include_str!("../../../README.md");
        let page = include_str!("../../../docs/performance.md");
        for (name, text) in [("README.md", readme), ("docs/performance.md", page)] {
            assert_eq!(text.matches(MARK).count(), 2, "{name}");
            assert!(figures(text).unwrap().contains("| figure "), "{name}");
        }
    }

    #[test]
    fn a_text_without_both_marks_is_left_alone() {
        assert_eq!(with_figures("prose\n", "new\n"), None);
        assert_eq!(with_figures("<!-- figures -->\nold\n", "new\n"), None);
    }
}
