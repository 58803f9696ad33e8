//! The tables and plots, put together: for the terminal, and as the page that stands beside the results.

use std::fmt::Write as _;

use super::glance::{caption, glance};
use super::measured::Measured;
use super::phases::{phase, phases};
use super::plots::Drawn;
use super::table::Table;
use super::words;
use crate::bars::Bars;
use crate::results::{Profile, Results};

/// Everything but the plots, for the terminal.
pub fn terminal(results: &Results, bars: &[(Profile, Bars)]) -> String {
    let mut text = results.machine.join("\n");
    for (profile, bars) in bars {
        let measured = Measured::new(results, *profile);
        let name = words::profile(*profile);
        for phase_name in phases(measured) {
            let table = phase(measured, phase_name).text();
            let _ = write!(text, "\n\n{} ({name})\n{table}", words::phase(phase_name));
        }
        let _ = write!(text, "\n\nMust hold ({name})\n{bars}{}\n", verdict(bars));
    }
    if let Some((profile, table)) = glance(results) {
        let _ = write!(text, "\n\nIn one look\n{}\n{}", table.text(), caption(profile));
    }
    text.trim_start().to_owned() + "\n"
}

/// The page.
pub fn markdown(results: &Results, bars: &[(Profile, Bars)], plots: &[Drawn]) -> String {
    let mut page =
        "# What was measured\n\nWritten by `cargo run -p kubewright-bench --bin report` from the \
        results beside it; what is measured, and how, is in [the benchmark](../README.md).\n\n"
            .to_owned();
    for line in &results.machine {
        let _ = writeln!(page, "- {line}");
    }
    if let Some((profile, table)) = glance(results) {
        let _ = write!(page, "\n## In one look\n\n{}\n{}\n", table.markdown(), caption(profile));
    }
    for (profile, bars) in bars {
        let name = words::profile(*profile);
        let _ = write!(page, "\n## Must hold ({name})\n\n{}", must_hold(bars).markdown());
        let _ = write!(page, "\n{}\n", verdict(bars));
    }
    for (profile, _) in bars {
        let measured = Measured::new(results, *profile);
        let _ = write!(page, "\n## All figures ({})\n", words::profile(*profile));
        for name in phases(measured) {
            let table = phase(measured, name).markdown();
            let _ = write!(page, "\n### {}\n\n{table}", words::phase(name));
            for plot in plots.iter().filter(|it| it.profile == *profile && it.phase == name) {
                let _ = write!(page, "\n![{}]({})\n", plot.title, plot.file);
            }
        }
    }
    page
}

fn must_hold(bars: &Bars) -> Table {
    let mut table = Table::new(&["", "measured", "bar", ""]);
    table.rows = bars.rows().map(|row| row.map(str::to_owned).to_vec()).collect();
    table
}

fn verdict(bars: &Bars) -> String {
    let [held, missed, unknown] = [bars.held(), bars.missed(), bars.unknown()].map(|it| it.len());
    format!("{held} held, {missed} missed, {unknown} not measured.")
}

#[cfg(test)]
mod tests {
    use crate::report::Report;
    use crate::report::made_up::MadeUp;
    use crate::results::{Results, Subject};

    #[test]
    fn the_page_shows_tables_bars_and_plots() {
        let made_up = MadeUp::default()
            .add(Subject::Ours, 1000, "backlog", "seconds", &[5.0])
            .curve(Subject::Ours, "backlog", "converged", &[(0.0, 0.0), (5.0, 1000.0)]);
        let report = Report::of(made_up.results());
        for wanted in [
            "## In one look\n\n|  | ours |",
            "0 held, 0 missed, 20 not measured.",
            "| time, s | 1,000 | 5 |",
            "![Convergence of 1,000 objects](convergence-no-fsync-1000.svg)",
        ] {
            assert!(report.markdown.contains(wanted), "{wanted}: {}", report.markdown);
        }
        assert!(report.terminal.contains("Must hold (etcd without fsync)"));
    }

    #[test]
    fn nothing_measured_is_an_empty_report() {
        let report = Report::of(&Results::default());
        assert!(report.bars.is_empty() && report.plots.is_empty());
        assert_eq!(report.terminal, "\n");
    }
}
