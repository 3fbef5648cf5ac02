//! scratch
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use subsweep::harness::*;
use subsweep::headless::*;
use subsweep::vk::{Command, Trace};
#[derive(Default)]
struct T(Mutex<(BTreeSet<String>, u64, BTreeSet<(String, Vec<(String, u32)>)>)>);
impl Trace for T {
    fn record(&self, _: ash::vk::CommandBuffer, c: &Command<'_>) {
        if let Command::Dispatch { kernel, constants, .. } = c {
            let mut t = self.0.lock().unwrap();
            t.0.insert(format!("{} {:?}", kernel.name, constants));
            t.1 += 1;
            t.2.insert((kernel.name.to_owned(), constants.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect()));
        }
    }
}
fn cpu() -> f64 {
    let mut u: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut u) };
    u.ru_utime.tv_sec as f64 + u.ru_utime.tv_usec as f64 / 1e6 + u.ru_stime.tv_sec as f64 + u.ru_stime.tv_usec as f64 / 1e6
}
fn main() {
    let effort = match std::env::args().nth(1).as_deref() { Some("full") => Effort::Full, Some("normal") => Effort::Normal, _ => Effort::Quick };
    let filter = std::env::args().nth(2).unwrap_or_default();
    let trace = Arc::new(T::default());
    let gpu = Gpu::open(GpuOptions { work: WorkOptions { trace: Some(trace.clone()), ..WorkOptions::default() }, ..Default::default() }).unwrap();
    let cases: Vec<_> = verify_cases(effort, gpu.capabilities()).into_iter().filter(|c| c.id().contains(&filter)).collect();
    let mut works: BTreeMap<String, (usize, usize, f64, f64)> = BTreeMap::new();
    let (t0, c0) = (Instant::now(), cpu());
    let mut elements = 0;
    for case in &cases {
        let (b, c, t) = (trace.0.lock().unwrap().0.len(), cpu(), Instant::now());
        let o = verify_case(&gpu, case).unwrap();
        if !matches!(o, Outcome::Pass) { println!("{}: {o}", case.id()); }
        elements += case.count;
        let n = trace.0.lock().unwrap().0.len() - b;
        let e = works.entry(case.work.to_string()).or_default();
        e.0 += 1; e.1 += n; e.2 += cpu() - c; e.3 += t.elapsed().as_secs_f64();
    }
    let mut groups: BTreeMap<String, (usize, usize, usize, f64)> = BTreeMap::new();
    for (w, (n, p, c, _)) in &works {
        if std::env::var_os("LIST").is_some() { println!("{n:4} {p:4} {c:7.3} {w}"); }
        let e = groups.entry(w.split(':').next().unwrap().to_owned()).or_default();
        e.0 += 1; e.1 += n; e.2 += p; e.3 += c;
    }
    for (g, e) in groups { println!("{g}: {} works, {} cases, {} pipelines, {:.1} cpu s", e.0, e.1, e.2, e.3); }
    let t = trace.0.lock().unwrap();
    let kernels: BTreeSet<_> = t.0.iter().map(|p| p.split(' ').next().unwrap().to_owned()).collect();
    println!("{} cases, {} works, {} pipelines of {} kernels, {} dispatches, {elements} elements, {:.1} s, {:.1} cpu s", cases.len(), works.len(), t.0.len(), kernels.len(), t.1, t0.elapsed().as_secs_f64(), cpu() - c0);
    if std::env::var_os("KERNELS").is_some() { for k in kernels { println!("  {k}"); } }
    if std::env::var_os("CHOSEN").is_some() {
        const SHAPE: &[&str] = &["BATCHES_PER_CHUNK","CLUSTER_LANES","ITEMS_PER_INVOCATION","MAX_LARGE","MAX_SHORT","MAX_SMALL","MAX_SUBGROUPS","PACKS_PER_RUN","PARTS_PER_ELEMENT","QUADS_PER_INVOCATION","RUNS_PER_INVOCATION","SHORT_PER_WORKGROUP","TILE_ELEMENTS","TILE_ITEMS","UNITS_PER_INVOCATION","WORKGROUP_SIZE"];
        let text = include_str!("../tests/codegen/RADV-navi21.txt");
        let norm = |k: &str, mut c: Vec<String>| { c.sort(); format!("{k} {}", c.join(" ")) };
        let chosen: BTreeSet<String> = text.lines().filter(|r| !r.starts_with('#')).filter_map(|r| { let k = r.split_whitespace().next()?; Some(norm(k, r.split_whitespace().filter_map(|w| w.split_once('=')).filter(|(n, _)| !SHAPE.contains(n)).map(|(n, v)| format!("{n}={v}")).collect())) }).collect();
        let have: BTreeSet<String> = t.2.iter().map(|(k, c)| norm(k, c.iter().filter(|(n, _)| !SHAPE.contains(&n.as_str())).map(|(n, v)| format!("{n}={v}")).collect())).collect();
        let missing: Vec<_> = chosen.difference(&have).collect();
        println!("{} chosen, {} missing", chosen.len(), missing.len());
        for m in missing { println!("  missing {m}"); }
    }
    if std::env::var_os("PIPELINES").is_some() { for k in &t.0 { println!("  {k}"); } }
}
