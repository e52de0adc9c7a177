//! A table, as text and as Markdown.

use crate::findings::{Cell, Table};

/// Rows of fields; the first one has the names of the columns.
#[derive(Debug)]
pub(crate) struct Sheet(Vec<Vec<String>>);

impl Sheet {
    /// Lays out the cells of a table. The columns come in this order, followed by the unnamed ones; a
    /// column without any cell is left out. Rows come in the order of the results.
    pub(crate) fn new(cells: &[Cell], table: Table, corner: &str, order: &[&str]) -> Sheet {
        let cells: Vec<&Cell> = cells.iter().filter(|cell| cell.table == table).collect();
        let has = |column: &&str| cells.iter().any(|cell| cell.column == *column);
        let mut columns: Vec<&str> = order.iter().copied().filter(has).collect();
        let mut rows = Vec::new();
        for cell in &cells {
            if !columns.contains(&cell.column.as_str()) {
                columns.push(&cell.column);
            }
            if !rows.contains(&cell.row.as_str()) {
                rows.push(&cell.row);
            }
        }
        let mut lines = vec![
            [corner]
                .iter()
                .chain(&columns)
                .map(ToString::to_string)
                .collect(),
        ];
        for row in rows {
            let field = |column: &&str| {
                let of = |cell: &&&Cell| cell.row == row && cell.column == *column;
                let last = cells.iter().rev().find(of);
                last.map_or_else(|| "–".to_owned(), |cell| cell.text.clone())
            };
            let fields = columns.iter().map(field);
            lines.push([row.to_owned()].into_iter().chain(fields).collect());
        }
        Sheet(lines)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.len() == 1
    }

    /// Aligned columns, for a terminal.
    pub(crate) fn text(&self) -> String {
        let rule = self
            .widths()
            .iter()
            .map(|&width| "-".repeat(width))
            .collect();
        self.lines(&rule, |fields| fields.join("  ").trim_end().to_owned())
    }

    /// The same as Markdown that is readable as text.
    pub(crate) fn markdown(&self) -> String {
        let rule = self
            .widths()
            .iter()
            .map(|&width| "-".repeat(width))
            .collect();
        self.lines(&rule, |fields| format!("| {} |", fields.join(" | ")))
    }

    fn lines(&self, rule: &Vec<String>, join: impl Fn(&[String]) -> String) -> String {
        let (head, rows) = self.0.split_first().expect("there is a head");
        let widths = self.widths();
        let mut text = String::new();
        for row in [head, rule].into_iter().chain(rows) {
            let padded = row
                .iter()
                .zip(&widths)
                .map(|(field, width)| format!("{field:width$}"));
            text += &join(&padded.collect::<Vec<_>>());
            text.push('\n');
        }
        text
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| {
            self.0
                .iter()
                .map(move |row| row[column].chars().count())
                .max()
        };
        (0..self.0[0].len())
            .map(|column| width(column).unwrap_or(0))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(cells: &[(&str, &str, &str)], order: &[&str]) -> Sheet {
        let cells: Vec<Cell> = cells
            .iter()
            .map(|&(row, column, text)| Cell {
                table: Table::Figures,
                row: row.to_owned(),
                column: column.to_owned(),
                text: text.to_owned(),
            })
            .collect();
        Sheet::new(&cells, Table::Figures, "figure", order)
    }

    #[test]
    fn columns_come_in_order_and_stand_below_each_other() {
        let sheet = sheet(
            &[
                ("cycle", "floor", "21 µs"),
                ("cycle", "ours", "1.23"),
                ("crash", "ours", "9"),
            ],
            &["ours", "never", "floor"],
        );
        let markdown = "\
            | figure | ours | floor |\n\
            | ------ | ---- | ----- |\n\
            | cycle  | 1.23 | 21 µs |\n\
            | crash  | 9    | –     |\n";
        assert_eq!(sheet.markdown(), markdown);
        let text = "\
            figure  ours  floor\n\
            ------  ----  -----\n\
            cycle   1.23  21 µs\n\
            crash   9     –\n";
        assert_eq!(sheet.text(), text);
    }

    #[test]
    fn unordered_columns_come_last_and_the_last_value_counts() {
        let sheet = sheet(
            &[
                ("cycle", "new", "1"),
                ("cycle", "ours", "2"),
                ("cycle", "new", "3"),
            ],
            &["ours"],
        );
        assert!(
            sheet.markdown().starts_with("| figure | ours | new |\n"),
            "{}",
            sheet.markdown()
        );
        assert!(
            sheet.markdown().ends_with("| cycle  | 2    | 3   |\n"),
            "{}",
            sheet.markdown()
        );
    }

    #[test]
    fn a_table_without_cells_is_empty() {
        assert!(sheet(&[], &["ours"]).is_empty());
        assert!(!sheet(&[("cycle", "ours", "1")], &[]).is_empty());
    }
}
