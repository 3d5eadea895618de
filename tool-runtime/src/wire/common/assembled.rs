/// What all streams have alike: how they begin, how a piece that can't be read leaves its mark, and what
/// `Debug` says. Each `Stream` has `text`, `broken` and a function `read`; the words are its own.
macro_rules! assembled {
    ($(#[doc = $push:expr])+ push; $(#[doc = $text:expr])+ text;) => {
        impl Stream {
            /// At its beginning.
            pub fn new() -> Self {
                Stream::default()
            }

            $(#[doc = $push])+
            pub fn push(&mut self, data: &str) -> Result<(), MessageError> {
                self.read(data).map_err(|fail| {
                    self.broken = true;
                    fail.of(FORMAT)
                })
            }

            $(#[doc = $text])+
            pub fn text(&self) -> &str {
                self.text.as_str()
            }
        }

        impl std::fmt::Debug for Stream {
            /// Without what came: which of it is secret is not known.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct("Stream").finish_non_exhaustive()
            }
        }
    };
}

pub(in crate::wire) use assembled;
