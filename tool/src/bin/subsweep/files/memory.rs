//! Available memory, so that a file too large is refused instead of the process being killed.
//!
//! Under overcommit an allocation rarely fails; the process is killed when it touches memory that does not exist. Where
//! the size is unknown the answer is `None`, and the allocator decides.

/// Lets freed memory of 8 MiB and more return to the system. glibc would learn to keep up to 32 MiB for each size, fragmented, where
/// the arrays of a CPU device are: beside `--memory`.
pub fn return_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const KEPT_SIZE: libc::c_int = 8 << 20;
        for limit in [libc::M_MMAP_THRESHOLD, libc::M_TRIM_THRESHOLD] {
            // SAFETY: it changes numbers of the allocator, before a thread is started.
            unsafe { libc::mallopt(limit, KEPT_SIZE) };
        }
    }
}

/// Bytes that this process can still allocate, if the system reports them.
pub fn available() -> Option<u64> {
    of_system().into_iter().chain(of_group()).min()
}

fn of_system() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let free = size_in(&text, "MemAvailable:")?;
    Some(free.saturating_add(size_in(&text, "SwapFree:").unwrap_or(0)))
}

/// A field of `/proc/meminfo`, in bytes.
fn size_in(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The least free memory of the control groups of this process, version 1 or 2.
fn of_group() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    room_in_groups(&groups, std::path::Path::new("/sys/fs/cgroup"))
}

/// The least free memory of the groups that `/proc/self/cgroup` lists, mounted at `root`.
fn room_in_groups(groups: &str, root: &std::path::Path) -> Option<u64> {
    use std::path::Path;

    let rooms = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (root, names) = match fields.next()? {
            "" => (root.to_owned(), &VERSION_2),
            controllers if controllers.split(',').any(|controller| controller == "memory") => {
                (root.join("memory"), &VERSION_1)
            }
            _ => return None,
        };
        let group = fields.next()?.trim_start_matches('/');
        Path::new(group).ancestors().filter_map(|group| room(&root.join(group), names)).min()
    });
    rooms.min()
}

/// File names of a control group version.
struct Names {
    limit: &'static str,
    usage: &'static str,
    /// Fields of `memory.stat` with the reclaimable file cache of this group and its children.
    cache: [&'static str; 2],
}

const VERSION_1: Names = Names {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    cache: ["total_inactive_file", "total_active_file"],
};
const VERSION_2: Names =
    Names { limit: "memory.max", usage: "memory.current", cache: ["inactive_file", "active_file"] };

/// The free memory under a control group's limit, if it has one.
fn room(group: &std::path::Path, names: &Names) -> Option<u64> {
    let read = |name: &str| std::fs::read_to_string(group.join(name)).ok();
    let limit = read(names.limit)?.trim().parse::<u64>().ok()?;
    let usage = read(names.usage).and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
    let cache = read("memory.stat").map_or(0, |text| {
        let fields = text.lines().filter_map(|line| line.split_once(' '));
        let sizes = fields.filter(|(name, _)| names.cache.contains(name)).map(|(_, size)| size.trim());
        sizes.filter_map(|size| size.parse::<u64>().ok()).fold(0, u64::saturating_add)
    });
    Some(limit.saturating_sub(usage.saturating_sub(cache)))
}

#[cfg(test)]
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
    fn memory_in_use_by_a_group_is_not_free_except_for_the_file_cache() {
        let root = tempfile::tempdir().unwrap();
        let write = |group: &str, files: &[(&str, &str)]| {
            let group = root.path().join(group);
            std::fs::create_dir_all(&group).unwrap();
            files.iter().for_each(|(name, text)| std::fs::write(group.join(name), text).unwrap());
        };
        let room = |groups: &str| room_in_groups(groups, root.path());
        write("memory/outer", &[("memory.limit_in_bytes", "1000\n"), ("memory.usage_in_bytes", "700\n")]);
        let stat = "cache 1\nactive_file 1\ntotal_inactive_file 80\ntotal_active_file 20\n";
        write("memory/outer", &[("memory.stat", stat)]);
        write("memory/outer/inner", &[("memory.limit_in_bytes", "9223372036854771712\n")]);
        assert_eq!(room("5:cpu:/other\n4:memory:/outer/inner\n"), Some(400));
        assert_eq!(room("4:hugetlb,memory:/outer\n"), Some(400));
        write("a", &[("memory.max", "max\n"), ("memory.current", "900\n")]);
        assert_eq!(room("0::/a\n"), None);
        write("a/b", &[("memory.max", "500\n"), ("memory.current", "900\n"), ("memory.stat", "anon 900\n")]);
        assert_eq!(room("0::/a/b\n"), Some(0));
        write("a/b", &[("memory.stat", "anon 500\ninactive_file 300\nactive_file 100\n")]);
        assert_eq!(room("0::/a/b\n"), Some(0));
        write("a/b", &[("memory.max", "600\n")]);
        assert_eq!(room("0::/a/b\n4:memory:/outer\n"), Some(100));
        assert_eq!(room("0::/nowhere\n"), None);
    }

    #[test]
    fn linux_reports_free_memory() {
        assert!(available().is_some_and(|size| size > 0));
    }
}
