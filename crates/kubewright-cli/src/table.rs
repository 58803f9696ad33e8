//! Text in columns. Pure.

/// Rows with their cells aligned, two spaces apart; the first row is usually the heading.
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
