//! How large the programs and their images are, and what they were measured on.

use std::fs;
use std::process::Command;

use kubewright_bench::results::Subject;
use kubewright_bench::{image_megabytes, megabytes};

use crate::programs::Programs;
use crate::session::Out;

pub(crate) fn measure(programs: &Programs, out: &mut Out<'_>) -> anyhow::Result<()> {
    for (subject, program) in [(Subject::Ours, &programs.ours), (Subject::GoStock, &programs.go)] {
        out.case.subject = subject;
        out.add("sizes", "binary_mb", megabytes(program)?);
        out.add("sizes", "image_mb", image_megabytes(program)?);
    }
    Ok(())
}

/// The machine, in words.
pub(crate) fn machine() -> anyhow::Result<Vec<String>> {
    let cpu = fs::read_to_string("/proc/cpuinfo")?;
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let model = model.trim_start_matches([' ', '\t', ':']).to_owned();
    let memory = fs::read_to_string("/proc/meminfo")?;
    let memory = memory.lines().next().unwrap_or_default().split_whitespace().nth(1).unwrap_or("0");
    let gibibytes = memory.parse::<f64>()? / 1024.0 / 1024.0;
    let cores = std::thread::available_parallelism()?;
    let mut words = vec![format!("{cores} cores of {model}, {gibibytes:.0} GiB")];
    for (program, argument) in [("uname", "-sr"), ("rustc", "--version"), ("go", "version")] {
        if let Ok(output) = Command::new(program).arg(argument).output() {
            words.push(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
    }
    Ok(words)
}
