//! Headless Chromium: measures a page and takes screenshots.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A browser on this machine.
pub struct Browser(PathBuf);

/// The preferred colour scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Light,
    Dark,
}

impl Browser {
    /// The browser of `SUBSWEEP_CHROMIUM`, or the first with one of the usual names.
    pub fn find() -> Option<Self> {
        if let Some(path) = std::env::var_os("SUBSWEEP_CHROMIUM") {
            return Some(Self(path.into()));
        }
        let folders: Vec<_> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let mut paths = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        paths.find(|path| path.is_file()).map(Self)
    }

    /// The measurements of `page` by `measure.js`, in a frame of `width` pixels.
    pub fn facts(&self, page: &str, width: u32, scheme: Scheme) -> Value {
        let script = format!("<script>{}</script></body>", include_str!("measure.js"));
        let page = page.replace("</body>", &script);
        let shown = self.run(&page, width, scheme, &["--dump-dom"]);
        let (_, facts) = shown.split_once("data-facts=\"").unwrap_or_else(|| panic!("no facts in {shown}"));
        let (facts, _) = facts.split_once('"').expect("an attribute ends");
        let facts =
            facts.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        serde_json::from_str(&facts).expect("the script writes JSON")
    }

    /// Writes a screenshot of the top of `page` to `path`.
    pub fn screenshot(&self, page: &str, width: u32, scheme: Scheme, path: &Path) {
        self.run(page, width, scheme, &[&format!("--screenshot={}", path.display()), "--hide-scrollbars"]);
    }

    fn run(&self, page: &str, width: u32, scheme: Scheme, arguments: &[&str]) -> String {
        const HEIGHT: u32 = 2400;
        let folder = TempDir::new().expect("a temporary folder");
        let path = folder.path().join("page.html");
        std::fs::write(&path, framed(page, width, HEIGHT)).expect("a file");
        let scheme = match scheme {
            Scheme::Dark => 0,
            Scheme::Light => 1,
        };
        let mut command = Command::new(&self.0);
        command
            // The page is trusted, and a container does not support the sandbox.
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            // No network access.
            .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking"])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
            .arg(format!("--window-size={},{HEIGHT}", width.max(500)))
            .args(arguments)
            .arg(format!("file://{}", path.display()));
        let output = folder.path().join("output");
        command
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .stdout(std::fs::File::create(&output).expect("a file"));
        let mut child = command.spawn().expect("the browser starts");
        let start = Instant::now();
        let status = loop {
            match child.try_wait().expect("a child") {
                Some(status) => break status,
                None if start.elapsed() > Duration::from_secs(180) => {
                    let _ = child.kill();
                    panic!("{} does not end", self.0.display());
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        assert!(status.success(), "{}: {status}", self.0.display());
        std::fs::read_to_string(output).expect("the browser's output")
    }
}

/// A page that embeds `page` in a frame of `width` pixels. The frame inherits the preferred scheme if the outer page
/// supports both.
fn framed(page: &str, width: u32, height: u32) -> String {
    let page = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!DOCTYPE html><html style=\"color-scheme: light dark\"><body style=\"margin: 0\">\
         <iframe style=\"border: 0; display: block\" width=\"{width}\" height=\"{height}\" srcdoc=\"{page}\"></iframe>\
         </body></html>"
    )
}
