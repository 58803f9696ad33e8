//! `process_*`: memory, processor time and open files of this process, read from `/proc` at the scrape.
//! What cannot be read is left out.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Ticks per second in `/proc`: Linux reports them in this unit whatever its own clock does, on all
/// architectures that Kubernetes runs on.
const TICKS: f64 = 100.0;

/// Reads `/proc/self`.
#[derive(Debug)]
pub(super) struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        if let Some(seconds) = cpu_seconds(&stat) {
            let help = "Processor time used, in seconds";
            metric(&mut encoder, "process_cpu_seconds", help, &ConstCounter::new(seconds))?;
        }
        let system = fs::read_to_string("/proc/stat").unwrap_or_default();
        if let Some(seconds) = start_seconds(&stat, &system) {
            let help = "When the process started, in seconds since 1970";
            metric(&mut encoder, "process_start_time_seconds", help, &ConstGauge::new(seconds))?;
        }
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        if let Some(bytes) = resident_bytes(&status) {
            let help = "Resident memory, in bytes";
            metric(&mut encoder, "process_resident_memory_bytes", help, &ConstGauge::new(bytes))?;
        }
        if let Ok(files) = fs::read_dir("/proc/self/fd") {
            // One of them is the directory that is being read.
            let open = files.count().saturating_sub(1);
            metric(&mut encoder, "process_open_fds", "Open files", &ConstGauge::new(open))?;
        }
        Ok(())
    }
}

fn metric(
    encoder: &mut DescriptorEncoder,
    name: &str,
    help: &str,
    value: &impl EncodeMetric,
) -> fmt::Result {
    value.encode(encoder.encode_descriptor(name, help, None, value.metric_type())?)
}

/// A field of `/proc/self/stat` by its number in proc(5). The second, the program's name, is the only
/// one that may contain spaces and brackets; counting begins after it.
fn field(stat: &str, number: usize) -> Option<f64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(number.checked_sub(3)?)?.parse().ok()
}

/// User and system time.
fn cpu_seconds(stat: &str) -> Option<f64> {
    Some((field(stat, 14)? + field(stat, 15)?) / TICKS)
}

/// The start is counted from the boot, and the boot is in the system's file.
fn start_seconds(stat: &str, system: &str) -> Option<f64> {
    let boot: f64 =
        system.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(boot + field(stat, 22)? / TICKS)
}

fn resident_bytes(status: &str) -> Option<u64> {
    let kibibytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    kibibytes.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "7 (a )( b) S 1 7 7 0 -1 4194560 2000 0 0 0 150 50 0 0 20 0 4 0 1200 9 9";

    #[test]
    fn a_program_name_with_brackets_does_not_shift_the_fields() {
        assert_eq!(cpu_seconds(STAT), Some(2.0));
        assert_eq!(start_seconds(STAT, "cpu 1 2\nbtime 1000\n"), Some(1012.0));
    }

    #[test]
    fn resident_memory_is_in_bytes() {
        assert_eq!(resident_bytes("Name:\ta\nVmRSS:\t    2048 kB\n"), Some(2_097_152));
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        assert_eq!(cpu_seconds(""), None);
        assert_eq!(start_seconds(STAT, ""), None);
        assert_eq!(resident_bytes("VmRSS:\tmany\n"), None);
    }
}
