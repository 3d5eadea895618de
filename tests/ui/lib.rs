//! What compiles, what doesn't, and what an author reads then.
//!
//! `<theme>/fail/*.rs` must not compile, and the compiler must say what stands in the `.stderr` beside it.
//! `<theme>/pass/*.rs` must compile, and their `main` must end well.
//!
//! # Writing a case
//!
//! One thing a file, as an author would get it wrong, without unused variables: their warnings would be part of the
//! snapshot. `TRYBUILD=overwrite cargo test -p ui -- trybuild=<part of a path>` writes the `.stderr`. **A person reads
//! it before it is committed**: does it say what is wrong, why, and what to write instead, on the right token, and
//! nothing else? If not, the message is to be changed, not the snapshot accepted.
//!
//! # What snapshots may depend on
//!
//! On the compiler that `rust-version` in `Cargo.toml` names, and on this repository. Not on the component `rust-src`: with it, the
//! compiler shows the standard library's source wherever a message points there, and `trybuild` doesn't take that
//! out. And not on how many types implement a trait, or on other crates' versions. So no message points into the standard
//! library, and none has a list of "other types"; a test keeps it so. A message that would is formulated otherwise:
//! by another case, by `#[diagnostic::do_not_recommend]` on the impls that would be listed, or by what the macro emits. What can't
//! be said without (that a type does *not* implement a foreign trait, for one) is a `pass` case that asserts it.
//!
//! The cases that must not compile and those that must are separate tests: with both in one, `trybuild` would build
//! them all rather than check them.
