//! No secret leaves in a message: every text of a piece goes through the redactor.

use crate::config::Redactor;
use plugin_sdk::{MediaRef, MediaSource, Segment};

/// The segments without secrets.
pub(super) fn clean(redactor: &Redactor, mut segments: Vec<Segment>) -> Vec<Segment> {
    segments.iter_mut().for_each(|segment| clean_one(redactor, segment));
    segments
}

fn clean_one(redactor: &Redactor, segment: &mut Segment) {
    let optional = |text: &mut Option<String>| text.iter_mut().for_each(|t| redactor.redact_text(t));
    match segment {
        Segment::Text { text, .. } => redactor.redact_text(text),
        Segment::Mention { name, .. } => redactor.redact_text(name),
        Segment::Image { media, caption }
        | Segment::Audio { media, caption }
        | Segment::Video { media, caption }
        | Segment::File { media, caption } => {
            inline(redactor, media);
            optional(caption);
        }
        Segment::Reply { name, excerpt, .. } => {
            optional(name);
            optional(excerpt);
        }
        Segment::Keyboard { rows } => rows.iter_mut().flatten().for_each(|b| redactor.redact_text(&mut b.label)),
        // A bot forwards nothing.
        Segment::Forward { .. } => {}
    }
}

/// A file that is its own address holds its text there.
fn inline(redactor: &Redactor, media: &mut MediaRef) {
    if let MediaSource::Url(url) = &mut media.source
        && url.starts_with("data:")
    {
        redactor.redact_text(url);
    }
}
