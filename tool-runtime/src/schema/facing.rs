/// A value that may reach a model: schemas, results, content.
///
/// Everything in this crate that builds a model request takes only this. It is sealed, and no
/// host type implements it: being serialisable is not enough, since an audit record is
/// serialisable too and still must not reach a model.
#[diagnostic::on_unimplemented(
    message = "host-only tool metadata must never reach a model",
    label = "execute, timeout and scheduling metadata stay in the host process",
    note = "send `tool.schema()`: it holds the four model-facing fields"
)]
pub trait ModelFacing: sealed::OfThisCrate {}

pub(crate) mod sealed {
    /// Keeps [`ModelFacing`](super::ModelFacing) to this crate.
    pub trait Sealed {}

    /// The same, with words of ours for an impl of `ModelFacing` elsewhere.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be made model-facing",
        label = "not one of the types that a model reads",
        note = "a model reads tool schemas, results and content, and nothing else: put what it should read into a `Content`"
    )]
    pub trait OfThisCrate {}

    #[diagnostic::do_not_recommend]
    impl<T: Sealed + ?Sized> OfThisCrate for T {}
}

// `ToolSchema` is the one that messages name: of all others, no impl is to be recommended.
#[diagnostic::do_not_recommend]
impl<T: ModelFacing> ModelFacing for &T {}
impl<T: ModelFacing> sealed::Sealed for &T {}

/// A tool as a model may see it: what a request's list of tools takes.
#[diagnostic::on_unimplemented(
    message = "host-only tool metadata must never reach a model",
    label = "`{Self}` stays in the host process: a request takes tool schemas",
    note = "send `tool.schema()`: it holds the four model-facing fields"
)]
pub trait DeclaredTool: ModelFacing {
    #[doc(hidden)]
    fn declared(&self) -> &super::ToolSchema;
}

#[diagnostic::do_not_recommend]
impl<T: DeclaredTool> DeclaredTool for &T {
    fn declared(&self) -> &super::ToolSchema {
        (*self).declared()
    }
}

impl DeclaredTool for super::ToolSchema {
    fn declared(&self) -> &super::ToolSchema {
        self
    }
}
