//! `tests/`: scenario files. A fault of one never stops the bot: it is a warning here, and a failed case of
//! `understudy test`.

use super::fileset::is_meant;
use super::loading::{Findings, Loading};
use super::reader::MANIFEST_LIMIT;
use super::source::TestSource;
use super::walk::{Entry, Unstable, find};
use plugin_sdk::{Diagnostic, Severity};

/// Reads the scenario files; what lies where none is read is a finding.
pub(super) fn load(l: &mut Loading<'_, '_, '_>) -> Result<Vec<TestSource>, Unstable> {
    let Some(folder) = find(l.top, "tests") else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    for entry in folder.entries() {
        let is_test = entry.name.ends_with(".toml");
        if is_test && !entry.is_folder() {
            out.push(read(l, entry)?);
        } else if entry.is_folder() {
            deeper(l, entry);
        } else if let Some((stem, end)) = entry.name.rsplit_once('.')
            && is_meant("toml", end)
        {
            let d = Diagnostic::warning("layout::misplaced", format!("`{}` is not read: no scenario file", entry.name));
            l.walk.report(d.help(format!("rename it to `{stem}.toml`")), &entry.rel);
        }
    }
    Ok(out)
}

fn read(l: &mut Loading<'_, '_, '_>, entry: &Entry) -> Result<TestSource, Unstable> {
    let mut findings = Findings::new("");
    let text = l.text(entry, MANIFEST_LIMIT, &mut findings)?;
    for found in &mut findings.list {
        found.severity = Severity::Warning;
    }
    let fault = findings.list.first().cloned();
    l.report(findings);
    Ok(TestSource { path: l.shown(&entry.rel), text: text.unwrap_or_default(), fault })
}

fn deeper(l: &mut Loading<'_, '_, '_>, folder: &Entry) {
    for entry in folder.entries() {
        if entry.is_folder() {
            deeper(l, entry);
        } else if entry.name.ends_with(".toml") {
            let d = Diagnostic::warning("layout::misplaced", format!("`{}` is not read here", entry.name));
            let right = l.shown(&format!("tests/{}", entry.name));
            l.walk.report(d.help(format!("move it to `{right}`: `tests/` has one level")), &entry.rel);
        }
    }
}
