//! A table in Markdown that is readable as text.

/// Aligned columns. The first row is the head; a row with a single field is a heading for the rows
/// below it.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let (head, rows) = rows.split_first().expect("there is a head");
    let full = || {
        [head]
            .into_iter()
            .chain(rows.iter().filter(|row| row.len() > 1))
    };
    let width = |column: usize| full().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..head.len()).filter_map(width).collect();
    let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    let line = |row: &Vec<String>| {
        let fields = row
            .iter()
            .map(String::as_str)
            .chain([""].into_iter().cycle());
        let fields = fields.zip(&widths);
        let fields: Vec<String> = fields
            .map(|(field, width)| format!("{field:width$}"))
            .collect();
        format!("| {} |\n", fields.join(" | "))
    };
    [head, &rule].into_iter().chain(rows).map(line).collect()
}
