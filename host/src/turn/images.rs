//! Images of a conversation under a limit: the newest stay, older ones become words.

use crate::model::ModelMessage;
use plugin_sdk::{ContentBlock, ImageData};

/// Stands for an image that is no longer sent.
const LEFT_OUT: &str = "[image: shown earlier, left out now for lack of room]";

/// Keeps the newest images that weigh at most `most` together. From the first that does not fit, all older ones are
/// words, so that a request differs from the one before it in as few places as possible.
pub(super) fn older_images_in_words(messages: &mut [ModelMessage], most: usize) {
    let mut left = Some(most);
    let mut fits = |image: &ImageData| {
        left = left.and_then(|left| left.checked_sub(image.data.len()));
        left.is_some()
    };
    for message in messages.iter_mut().rev() {
        match message {
            ModelMessage::User { text, images } => {
                let shown = images.iter().rev().take_while(|image| fits(image)).count();
                let gone = images.len() - shown;
                images.drain(..gone);
                for _ in 0..gone {
                    text.push_str(&format!("\n{LEFT_OUT}"));
                }
            }
            ModelMessage::Tool { content, .. } => {
                for block in content.iter_mut().rev() {
                    if matches!(block, ContentBlock::Image { image } if !fits(image)) {
                        *block = ContentBlock::text(LEFT_OUT);
                    }
                }
            }
            ModelMessage::Assistant { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn image(bytes: usize) -> ImageData {
        ImageData { mime: "image/png".into(), data: "A".repeat(bytes) }
    }

    fn result(images: &[usize]) -> ModelMessage {
        let content = images.iter().map(|n| ContentBlock::Image { image: image(*n) }).collect();
        let (call_id, tool, references) = ("a".into(), "t".into(), Vec::new());
        ModelMessage::Tool { call_id, tool, content, is_error: false, data: Value::Null, references }
    }

    fn said(images: &[usize]) -> ModelMessage {
        ModelMessage::User { text: "look".into(), images: images.iter().map(|n| image(*n)).collect() }
    }

    /// Sizes of the images of each message, and how many words stand for others.
    fn shown(messages: &[ModelMessage]) -> Vec<(Vec<usize>, usize)> {
        let of = |m: &ModelMessage| match m {
            ModelMessage::User { text, images } => {
                (images.iter().map(|i| i.data.len()).collect(), text.matches(LEFT_OUT).count())
            }
            ModelMessage::Tool { content, .. } => {
                let size = |b: &ContentBlock| match b {
                    ContentBlock::Image { image } => Some(image.data.len()),
                    ContentBlock::Text { .. } => None,
                };
                (content.iter().filter_map(size).collect(), content.iter().filter(|b| size(b).is_none()).count())
            }
            ModelMessage::Assistant { .. } => (Vec::new(), 0),
        };
        messages.iter().map(of).collect()
    }

    #[test]
    fn the_newest_images_stay_and_all_older_ones_are_words() {
        let whole = || vec![said(&[1, 2]), result(&[3, 4]), said(&[5])];
        let mut fits = whole();
        older_images_in_words(&mut fits, 15);
        assert_eq!(fits, whole());
        for (most, wanted) in [
            (14, [(vec![2], 1), (vec![3, 4], 0), (vec![5], 0)]),
            (11, [(vec![], 2), (vec![4], 1), (vec![5], 0)]),
            (4, [(vec![], 2), (vec![], 2), (vec![], 1)]),
        ] {
            let mut messages = whole();
            older_images_in_words(&mut messages, most);
            assert_eq!(shown(&messages), wanted, "{most}");
        }
    }
}
