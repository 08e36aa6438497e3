//! `SECTION.md` → `SectionSource`.

use super::front::{self, Form};
use super::loading::{Findings, Loading};
use super::places::Item;
use super::raw::{SECTION_TEXT_KEYS, SectionFile, SectionLayer, SectionRetention};
use super::reader::TEXT_LIMIT;
use super::source::{Layer, Retention, SectionSource};
use super::walk::Unstable;
use crate::config::doc::Doc;
use crate::config::shape;
use plugin_sdk::Diagnostic;

const FORM: Form = Form { kind: "section", limit: TEXT_LIMIT, text_keys: &SECTION_TEXT_KEYS };

/// Reads and checks one section folder; `None` when a finding refuses it.
pub(super) fn load(l: &mut Loading<'_, '_, '_>, item: &Item<'_>) -> Result<Option<SectionSource>, Unstable> {
    let mut findings = Loading::findings(item);
    let mut section = None;
    if let Some(markdown) = front::read(l, item.manifest, &FORM, &mut findings)? {
        let (file, faults) = shape::check_with::<SectionFile>("section", &markdown.doc, &l.schemas.section);
        findings.list.extend(faults);
        if let Some(file) = file {
            check_length(&file, &markdown.body, &markdown.doc, &mut findings);
            section = Some(SectionSource {
                name: item.folder.name.clone(),
                title: file.title,
                layer: match file.layer {
                    SectionLayer::Role => Layer::Role,
                    SectionLayer::Task => Layer::Task,
                    SectionLayer::Context => Layer::Context,
                    SectionLayer::Safety => Layer::Safety,
                },
                order: file.order,
                retention: retention(file.retention),
                max_chars: file.max_chars,
                profiles: file.profiles.iter().map(|p| p.as_str().to_string()).collect(),
                platforms: file.platforms,
                body: markdown.body,
                place: l.place(&findings.label, &markdown.doc),
            });
        }
    }
    let section = if findings.is_broken() { None } else { section };
    l.report(findings);
    Ok(section)
}

fn retention(raw: SectionRetention) -> Retention {
    match raw {
        SectionRetention::Required => Retention::Required,
        SectionRetention::Preferred => Retention::Preferred,
        SectionRetention::Opportunistic => Retention::Opportunistic,
    }
}

fn check_length(file: &SectionFile, body: &str, doc: &Doc, findings: &mut Findings) {
    let count = body.chars().count();
    let Some(max) = file.max_chars.filter(|max| count > *max) else { return };
    let d = if retention(file.retention) == Retention::Required {
        Diagnostic::error("section::too-long", format!("a required section has {count} characters, over its {max}"))
            .help("shorten the text, raise `max_chars`, or let the budget take it with another `retention`")
    } else {
        Diagnostic::warning("section::cut", format!("the section has {count} characters and is cut at {max} in a turn"))
            .help("shorten the text, or raise `max_chars`")
    };
    findings.add(doc.diag(d, "/max_chars"));
}
