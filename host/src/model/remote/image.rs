//! Images: which go out, and the words for those that do not.

use crate::model::base64;
use plugin_sdk::ImageData;

/// Base64 characters that hold the size of any image.
const HEAD: usize = 64 * 1024;

/// Whether a provider takes this image as a block.
pub(in crate::model) fn is_shown(image: &ImageData, images: bool) -> bool {
    let kind = matches!(image.mime.as_str(), "image/png" | "image/jpeg" | "image/webp" | "image/gif");
    images && kind && !image.data.is_empty()
}

/// The words for an image this model does not see.
pub(in crate::model) fn placeholder(image: &ImageData) -> String {
    let kind = image.mime.strip_prefix("image/").unwrap_or(&image.mime);
    let kind: String = kind.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')).collect();
    let size = size_of(image).map(|(w, h)| format!(" {w}x{h}")).unwrap_or_default();
    format!("[image {kind}{size}: this model cannot see images]")
}

fn size_of(image: &ImageData) -> Option<(u32, u32)> {
    let end = image.data.len().min(HEAD);
    let head = image.data.get(..end - end % 4)?;
    let bytes = base64::decode(head)?;
    match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => Some((wide(&bytes, 16)?, wide(&bytes, 20)?)),
        [b'G', b'I', b'F', b'8', _, _, w0, w1, h0, h1, ..] => {
            Some((u16::from_le_bytes([*w0, *w1]).into(), u16::from_le_bytes([*h0, *h1]).into()))
        }
        [0xff, 0xd8, rest @ ..] => jpeg(rest),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', rest @ ..] => webp(rest),
        _ => None,
    }
}

fn wide(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The first frame header among the segments.
fn jpeg(mut rest: &[u8]) -> Option<(u32, u32)> {
    loop {
        match rest {
            [0xff, 0xff, ..] => rest = rest.get(1..)?,
            [0xff, 0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf, _, _, _, h0, h1, w0, w1, ..] => {
                return Some((u16::from_be_bytes([*w0, *w1]).into(), u16::from_be_bytes([*h0, *h1]).into()));
            }
            [0xff, _, l0, l1, ..] => rest = rest.get(2 + usize::from(u16::from_be_bytes([*l0, *l1])).max(2)..)?,
            _ => return None,
        }
    }
}

fn webp(rest: &[u8]) -> Option<(u32, u32)> {
    match rest {
        [b'V', b'P', b'8', b'X', _, _, _, _, _, _, _, _, a, b, c, d, e, f, ..] => {
            Some((1 + u32::from_le_bytes([*a, *b, *c, 0]), 1 + u32::from_le_bytes([*d, *e, *f, 0])))
        }
        [b'V', b'P', b'8', b'L', _, _, _, _, 0x2f, a, b, c, d, ..] => {
            let bits = u32::from_le_bytes([*a, *b, *c, *d]);
            Some((1 + (bits & 0x3fff), 1 + ((bits >> 14) & 0x3fff)))
        }
        [b'V', b'P', b'8', b' ', _, _, _, _, _, _, _, 0x9d, 0x01, 0x2a, a, b, c, d, ..] => {
            let side = |low: u8, high: u8| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
            Some((side(*a, *b), side(*c, *d)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(mime: &str, bytes: &[u8]) -> String {
        placeholder(&ImageData { mime: mime.into(), data: base64::encode(bytes) })
    }

    #[test]
    fn sizes_stand_in_the_words() {
        let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" as &[u8], &800u32.to_be_bytes(), &600u32.to_be_bytes()].concat();
        assert_eq!(words("image/png", &png), "[image png 800x600: this model cannot see images]");
        let gif = b"GIF89a\x20\x03\x58\x02";
        assert_eq!(words("image/gif", gif), "[image gif 800x600: this model cannot see images]");
        let jpeg = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x02\x58\x03\x20\x03";
        assert_eq!(words("image/jpeg", jpeg), "[image jpeg 800x600: this model cannot see images]");
        let webp = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x1f\x03\0\x57\x02\0";
        assert_eq!(words("image/webp", webp), "[image webp 800x600: this model cannot see images]");
        assert_eq!(words("image/png]\n[x", b"?"), "[image pngx: this model cannot see images]");
    }

    #[test]
    fn only_usual_kinds_go_out_and_only_when_wanted() {
        let image = |mime: &str, data: &str| ImageData { mime: mime.into(), data: data.into() };
        assert!(is_shown(&image("image/png", "AA=="), true));
        assert!(!is_shown(&image("image/png", "AA=="), false));
        assert!(!is_shown(&image("image/tiff", "AA=="), true) && !is_shown(&image("image/png", ""), true));
    }

    proptest! {
        #[test]
        fn any_bytes_have_words(kind in 0usize..4, bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let start: &[u8] = [b"\x89PNG" as &[u8], b"\xff\xd8", b"RIFF\0\0\0\0WEBPVP8", b"GIF8"][kind];
            words("image/png", &[start, &bytes].concat());
        }
    }
}
