// What stays in the host has no impl that would let it out, and what may run once has none to copy it.
#![allow(dead_code)]

use serde::Serialize;
use serde::de::DeserializeOwned;
use tool_runtime::path::{Accepted, Decided, Draft, Outcome, Permit, Proposed, Recorded};
use tool_runtime::{
    CallContext, Card, HostState, HostTool, ModelFacing, Record, ToolCall, ToolSchema, Unknown, Verdict,
};

/// Two impls of it fit a type that has the trait, so that `some_item` is ambiguous.
macro_rules! assert_not_impl {
    ($bound:path: $($ty:ty),+ $(,)?) => {
        const _: () = {
            trait AmbiguousIfImpl<A> {
                fn some_item() {}
            }
            impl<T: ?Sized> AmbiguousIfImpl<()> for T {}
            impl<T: ?Sized + $bound> AmbiguousIfImpl<u8> for T {}
            $( let _ = <$ty as AmbiguousIfImpl<_>>::some_item; )+
        };
    };
}

assert_not_impl!(Serialize: HostTool, CallContext, HostState, Unknown, Permit, Recorded);
assert_not_impl!(DeserializeOwned: HostTool, Unknown, Verdict, Record, Permit, ToolCall, ToolSchema);
assert_not_impl!(Clone: Proposed, Accepted, Draft, Decided, Recorded, Permit, Outcome);
assert_not_impl!(Copy: Permit);
assert_not_impl!(Default: Permit, Verdict, Unknown, ToolSchema);
assert_not_impl!(ModelFacing: HostTool, CallContext, HostState, Card, Record, Verdict, Unknown, ToolCall);

fn main() {}
