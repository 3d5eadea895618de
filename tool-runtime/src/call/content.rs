use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeSeq, SerializeStruct, Serializer};

use crate::schema::{ModelFacing, sealed::Sealed};

/// What a model reads of a result: text, and other blocks where a provider takes them.
///
/// Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Content(Parts);

#[derive(Clone, PartialEq, Eq)]
enum Parts {
    /// What nearly every content is: one block of text.
    One([Block; 1]),
    Several(Arc<[Block]>),
}

/// One part of a [`Content`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text(Arc<str>),
    /// An image.
    Image {
        /// Its media type, such as `image/png`.
        media_type: Arc<str>,
        /// Its bytes in Base64 (RFC 4648).
        base64: Arc<str>,
    },
    /// A block that only one protocol has a word for, such as MCP's audio and embedded resources. Where it has none, the
    /// text is read.
    Embedded {
        /// What is read of it elsewhere.
        text: Arc<str>,
        /// The block as the protocol has it: a JSON object with a `type`.
        json: Arc<str>,
    },
}

impl Content {
    /// One block of text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Content(Parts::One([Block::Text(text.into())]))
    }

    /// Several blocks.
    pub fn blocks(blocks: impl IntoIterator<Item = Block>) -> Self {
        let blocks: Vec<Block> = blocks.into_iter().collect();
        Content(match <[Block; 1]>::try_from(blocks) {
            Ok(one) => Parts::One(one),
            Err(several) => Parts::Several(several.into()),
        })
    }

    /// The blocks in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Block> {
        match &self.0 {
            Parts::One(one) => one.iter(),
            Parts::Several(several) => several.iter(),
        }
    }

    /// The text if there is one block of text and nothing else.
    pub fn as_text(&self) -> Option<&str> {
        match &self.0 {
            Parts::One([Block::Text(text)]) => Some(text),
            _ => None,
        }
    }

    /// The text of all blocks, on lines of their own; other blocks are named by their kind.
    pub fn to_text(&self) -> String {
        let lines: Vec<String> = self
            .iter()
            .map(|block| match block {
                Block::Text(text) => text.to_string(),
                Block::Image { media_type, .. } => format!("[{media_type}]"),
                Block::Embedded { text, .. } => text.to_string(),
            })
            .collect();
        lines.join("\n")
    }

    /// There is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.iter().all(|block| matches!(block, Block::Text(text) if text.is_empty()))
    }
}

impl<'a> IntoIterator for &'a Content {
    type Item = &'a Block;
    type IntoIter = std::slice::Iter<'a, Block>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Content::text(text)
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Content {
    /// A string for a single text, else an array of blocks with a `type` each.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.as_text() {
            return serializer.serialize_str(text);
        }
        let mut blocks = serializer.serialize_seq(Some(self.iter().len()))?;
        for block in self {
            blocks.serialize_element(block)?;
        }
        blocks.end()
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Block::Text(text) => {
                let mut fields = serializer.serialize_struct("Block", 2)?;
                fields.serialize_field("type", "text")?;
                fields.serialize_field("text", &**text)?;
                fields.end()
            }
            Block::Image { media_type, base64 } => {
                let mut fields = serializer.serialize_struct("Block", 3)?;
                fields.serialize_field("type", "image")?;
                fields.serialize_field("media_type", &**media_type)?;
                fields.serialize_field("data", &**base64)?;
                fields.end()
            }
            Block::Embedded { text, json } => {
                let mut fields = serializer.serialize_struct("Block", 3)?;
                fields.serialize_field("type", "embedded")?;
                fields.serialize_field("text", &**text)?;
                fields.serialize_field("block", &**json)?;
                fields.end()
            }
        }
    }
}

impl Sealed for Content {}
#[diagnostic::do_not_recommend]
impl ModelFacing for Content {}
