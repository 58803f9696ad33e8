//! Text in columns. Pure.

use crate::style::Paint;

/// Rows with their cells aligned under a heading, which is the first of them.
pub(crate) fn headed<const WIDTH: usize>(rows: &[[String; WIDTH]], paint: Paint) -> String {
    let text = columns(rows);
    let (heading, rest) = text.split_once('\n').unwrap_or_default();
    format!("{}\n{rest}", paint.heading(heading))
}

/// Rows with their cells aligned, two spaces apart.
pub(crate) fn columns<const WIDTH: usize>(rows: &[[String; WIDTH]]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or_default()
    };
    let widths: [usize; WIDTH] = std::array::from_fn(width);
    let line = |row: &[String; WIDTH]| {
        let cells = row.iter().zip(widths);
        let padded: Vec<_> = cells.map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{}\n", padded.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_without_spaces() {
        let rows = [["NAME", "STATE"], ["kube-apiserver", "läuft"], ["etcd", ""]];
        let rows = rows.map(|row| row.map(str::to_owned));
        assert_eq!(columns(&rows), "NAME            STATE\nkube-apiserver  läuft\netcd\n");
    }

    #[test]
    fn no_rows_are_no_text() {
        assert_eq!(columns::<3>(&[]), "");
    }
}
