use std::sync::Arc;

use crate::call::{Block, Content};
use crate::schema::json::Json;
use crate::schema::text;

/// An object of these members.
pub(in crate::wire) fn object<'k>(members: impl IntoIterator<Item = (&'k str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Text alone, where a provider takes nothing else.
pub(in crate::wire) fn as_text(content: &Content) -> String {
    if let Some(text) = content.as_text() {
        return text.to_owned();
    }
    let lines: Vec<String> = content
        .iter()
        .map(|block| match block {
            Block::Text(text) => text.to_string(),
            Block::Image { media_type, .. } => stand_in(media_type),
            Block::Embedded { text, .. } => text.to_string(),
        })
        .collect();
    lines.join("\n")
}

fn stand_in(media_type: &str) -> String {
    format!("[an image ({}), which can't be sent here]", text::shown(media_type, 64))
}

/// The parts of a content, by a provider's words for text and for images. An image of which it has no word is named
/// in text, and text that is blank is left out, which some providers refuse.
pub(in crate::wire) fn parts_of(
    content: &Content,
    of_text: impl Fn(&str) -> Json,
    of_image: impl Fn(&str, &str) -> Option<Json>,
) -> Vec<Json> {
    let part = |block: &Block| match block {
        Block::Text(text) | Block::Embedded { text, .. } => (!text.trim().is_empty()).then(|| of_text(text)),
        Block::Image { media_type, base64 } => {
            Some(of_image(media_type, base64).unwrap_or_else(|| of_text(&stand_in(media_type))))
        }
    };
    content.iter().filter_map(part).collect()
}

/// Is there an image of one of these types?
pub(in crate::wire) fn has_images(content: &Content, types: &[&str]) -> bool {
    images(content, types).next().is_some()
}

/// Media type and Base64 of the images of these types.
pub(in crate::wire) fn images<'a>(
    content: &'a Content,
    types: &'a [&str],
) -> impl Iterator<Item = (&'a Arc<str>, &'a Arc<str>)> {
    content.iter().filter_map(move |block| match block {
        Block::Image { media_type, base64 } if types.contains(&&**media_type) => Some((media_type, base64)),
        _ => None,
    })
}

/// The text of a content whose images of these types go elsewhere.
pub(in crate::wire) fn text_beside(content: &Content, types: &[&str]) -> String {
    let elsewhere = |block: &&Block| matches!(block, Block::Image { media_type, .. } if types.contains(&&**media_type));
    as_text(&Content::blocks(content.iter().filter(|block| !elsewhere(block)).cloned()))
}
