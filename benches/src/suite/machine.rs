//! Where and when something was measured.

use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// A machine on a day, and the state of the sources.
#[derive(Clone, Debug)]
pub struct Machine {
    cpu: String,
    cores: usize,
    /// Bytes of memory.
    memory: Option<u64>,
    system: String,
    rustc: String,
    /// Processes that wanted to run in the minute before.
    load: Option<f64>,
    date: String,
    commit: String,
}

/// What a command prints, its first line.
fn said(command: &str, args: &[&str], folder: &Path) -> Option<String> {
    let run = Command::new(command)
        .args(args)
        .current_dir(folder)
        .output();
    let run = run.ok().filter(|r| r.status.success())?;
    let text = String::from_utf8_lossy(&run.stdout).trim().to_owned();
    text.lines().next().map(str::to_owned)
}

/// The value of `field` in lines of a name, a separator and a value.
fn field<'a>(text: &'a str, name: &str, separator: char) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(separator)?;
        (key.trim() == name).then(|| value.trim().trim_matches('"'))
    })
}

/// Bytes from a line of `/proc/meminfo`.
fn bytes(text: &str) -> Option<u64> {
    let value = field(text, "MemTotal", ':')?.strip_suffix("kB")?;
    value.trim().parse::<u64>().ok().map(|k| k * 1024)
}

/// The day of so many seconds after 1 January 1970, UTC, as year, month, day.
fn date(seconds: u64) -> String {
    let mut day = seconds / 86_400;
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let mut year = 1970;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [
        31,
        28 + u64::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let mut month = 0;
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, day + 1)
}

impl Machine {
    /// This machine, now; `root` is the folder of the sources.
    pub fn here(root: &Path) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let unknown = || "unknown".to_owned();
        let cpu = field(&read("/proc/cpuinfo"), "model name", ':')
            .map(str::to_owned)
            .or_else(|| said("sysctl", &["-n", "machdep.cpu.brand_string"], root));
        let memory = bytes(&read("/proc/meminfo")).or_else(|| {
            let size = said("sysctl", &["-n", "hw.memsize"], root)?;
            size.parse().ok()
        });
        let system = field(&read("/etc/os-release"), "PRETTY_NAME", '=')
            .map_or_else(|| std::env::consts::OS.to_owned(), str::to_owned);
        let commit = said("git", &["rev-parse", "--short", "HEAD"], root).map(|commit| {
            let changed = said("git", &["status", "--porcelain"], root).is_some();
            format!("{commit}{}", if changed { " with changes" } else { "" })
        });
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            cpu: cpu.unwrap_or_else(unknown),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory,
            system: format!("{system}, {}", std::env::consts::ARCH),
            rustc: said("rustc", &["--version"], root)
                .unwrap_or_else(|| "rustc unknown".to_owned()),
            load: read("/proc/loadavg")
                .split_whitespace()
                .next()
                .and_then(|x| x.parse().ok()),
            date: date(now.map_or(0, |d| d.as_secs())),
            commit: commit.unwrap_or_else(unknown),
        }
    }

    /// One sentence: when, which sources, which machine, how busy it was.
    pub fn describe(&self) -> String {
        let memory = self.memory.map_or_else(String::new, |b| {
            format!(", {:.0} GiB", b as f64 / f64::from(1 << 30))
        });
        let load = self.load.map_or_else(String::new, |l| {
            let busy = l > 0.5;
            let word = if busy {
                "; a busy machine: load"
            } else {
                "; load"
            };
            format!("{word} {l:.1} before")
        });
        format!(
            "{}, commit {}; {}, {} cores{memory}, {}, {}{load}",
            self.date, self.commit, self.cpu, self.cores, self.system, self.rustc
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(951_868_800), "2000-03-01");
        assert_eq!(date(1_735_689_599), "2024-12-31");
        assert_eq!(date(4_107_542_400), "2100-03-01");
    }

    #[test]
    fn fields_are_read_from_the_systems_files() {
        let cpu = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nmodel\t: 5\n";
        assert_eq!(field(cpu, "model name", ':'), Some("Some CPU @ 2 GHz"));
        let os = "NAME=\"X\"\nPRETTY_NAME=\"X 12\"\n";
        assert_eq!(field(os, "PRETTY_NAME", '='), Some("X 12"));
        assert_eq!(field(os, "VERSION", '='), None);
        assert_eq!(bytes("MemTotal:  16 kB\nMemFree: 3 kB\n"), Some(16_384));
        assert_eq!(bytes("nothing"), None);
    }

    #[test]
    fn a_busy_machine_is_said_to_be_busy() {
        let mut m = Machine {
            cpu: "CPU".into(),
            cores: 2,
            memory: Some(8 << 30),
            system: "OS".into(),
            rustc: "rustc 1".into(),
            load: Some(1.7),
            date: "2026-01-02".into(),
            commit: "abc".into(),
        };
        let busy = "2026-01-02, commit abc; CPU, 2 cores, 8 GiB, OS, rustc 1; a busy machine: load 1.7 before";
        assert_eq!(m.describe(), busy);
        m.load = Some(0.1);
        assert!(m.describe().ends_with("rustc 1; load 0.1 before"));
        (m.load, m.memory) = (None, None);
        assert!(m.describe().ends_with("2 cores, OS, rustc 1"));
    }
}
