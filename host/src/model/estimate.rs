//! Token counts when a provider gives none.

use super::{ModelMessage, ModelRequest, Usage};
use plugin_sdk::ContentBlock;

const IMAGE_TOKENS: u64 = 1500;

/// Characters divided by four, Chinese, Japanese and Korean ones counted whole.
pub fn estimate_tokens(text: &str) -> u64 {
    let (mut wide, mut narrow) = (0u64, 0u64);
    for c in text.chars() {
        if is_cjk(c) {
            wide += 1;
        } else {
            narrow += 1;
        }
    }
    wide + narrow.div_ceil(4)
}

/// The estimate of a whole step whose answer was `output`.
pub(super) fn estimate_step(request: &ModelRequest, output: &str) -> Usage {
    let mut input = estimate_tokens(&request.system);
    input += request.messages.iter().map(message_tokens).sum::<u64>();
    for tool in &request.tools {
        input += estimate_tokens(&tool.description) + estimate_tokens(&tool.schema.to_string());
    }
    Usage { input, output: estimate_tokens(output), estimated: true, ..Usage::default() }
}

pub fn message_tokens(message: &ModelMessage) -> u64 {
    match message {
        ModelMessage::User { text, images } => estimate_tokens(text) + images.len() as u64 * IMAGE_TOKENS,
        ModelMessage::Assistant { text, calls, .. } => {
            let calls = calls.iter().map(|c| estimate_tokens(&c.name) + estimate_tokens(&c.arguments));
            estimate_tokens(text) + calls.sum::<u64>()
        }
        ModelMessage::Tool { content, .. } => content.iter().map(block_tokens).sum(),
    }
}

fn block_tokens(block: &ContentBlock) -> u64 {
    match block {
        ContentBlock::Text { text } => estimate_tokens(text),
        ContentBlock::Image { .. } => IMAGE_TOKENS,
    }
}

fn is_cjk(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}
