//! A table, as text in columns and as Markdown. What stands in it is others'.

use std::iter::once;

/// Rows of as many cells as there are headings. The first column is of words, the others of figures.
pub struct Table {
    /// What stands over the columns.
    pub headings: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Without rows yet.
    pub fn new(headings: &[&str]) -> Self {
        Self { headings: headings.iter().map(ToString::to_string).collect(), rows: Vec::new() }
    }

    /// In columns, for the terminal.
    pub fn text(&self) -> String {
        let lines = || once(&self.headings).chain(&self.rows);
        let width = |column: usize| {
            lines().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
        };
        let widths: Vec<_> =
            (0..self.headings.len()).map(|column| width(column).unwrap_or(0)).collect();
        let text = |line: &Vec<String>| {
            let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if column == 0 { format!("{cell:width$}") } else { format!("{cell:>width$}") }
            });
            format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
        };
        lines().map(text).collect()
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &Vec<String>| {
            let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule =
            once("|---|".to_owned()).chain(self.headings.iter().skip(1).map(|_| "---:|".into()));
        let head = line(&self.headings) + &rule.collect::<String>() + "\n";
        once(head).chain(self.rows.iter().map(line)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["", "ours"]);
        table.rows.push(vec!["a|b".into(), "1 × WORSE".into()]);
        table
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        assert_eq!(table().text(), "          ours\na|b  1 × WORSE\n");
    }

    #[test]
    fn a_bar_within_a_cell_does_not_end_it() {
        assert_eq!(table().markdown(), "|  | ours |\n|---|---:|\n| a\\|b | 1 × WORSE |\n");
    }
}
