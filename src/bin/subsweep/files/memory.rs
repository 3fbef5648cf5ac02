//! How much memory there is to be had, so that too large a file is refused and nothing is killed.
//!
//! Asking for memory rarely fails where it is promised before it is there; the process is ended when it touches what
//! is not. Where nothing can be found out the answer is `None`, and the allocator has the last word.

/// Bytes that this process can still take, as far as the system tells.
pub fn available() -> Option<u64> {
    of_system().into_iter().chain(of_group()).min()
}

#[cfg(target_os = "linux")]
fn of_system() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let free = size_in(&text, "MemAvailable:")?;
    Some(free.saturating_add(size_in(&text, "SwapFree:").unwrap_or(0)))
}

/// A field of `/proc/meminfo`, in bytes.
#[cfg(target_os = "linux")]
fn size_in(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The smallest limit of the control groups around this process, version 1 or 2. What is in use already is not taken
/// off: most of it is often the cache of files, which gives way.
#[cfg(target_os = "linux")]
fn of_group() -> Option<u64> {
    use std::path::Path;

    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let limits = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (root, file) = match fields.next()? {
            "" => ("/sys/fs/cgroup", "memory.max"),
            "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => return None,
        };
        let group = fields.next()?.trim_start_matches('/');
        Path::new(group)
            .ancestors()
            .filter_map(|group| {
                std::fs::read_to_string(Path::new(root).join(group).join(file))
                    .ok()?
                    .trim()
                    .parse::<u64>()
                    .ok()
            })
            .min()
    });
    limits.min()
}

#[cfg(not(target_os = "linux"))]
fn of_system() -> Option<u64> {
    None
}

#[cfg(not(target_os = "linux"))]
fn of_group() -> Option<u64> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_bytes() {
        let text = "MemTotal:       24684096 kB\nMemAvailable:   24242720 kB\nHugePages_Total:       0\n";
        assert_eq!(size_in(text, "MemAvailable:"), Some(24_242_720 * 1024));
        assert_eq!(size_in(text, "HugePages_Total:"), None);
        assert_eq!(size_in(text, "SwapFree:"), None);
    }

    #[test]
    fn linux_tells() {
        assert!(available().is_some_and(|size| size > 0));
    }
}
