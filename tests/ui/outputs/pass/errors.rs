// Whatever becomes a boxed error.
use std::error::Error;
use std::fmt;
use tool_runtime::tool;

/// Wraps any error without being one, as `anyhow::Error` does.
#[derive(Debug)]
struct AnyError(Box<dyn Error + Send + Sync>);

impl<E: Error + Send + Sync + 'static> From<E> for AnyError {
    fn from(error: E) -> Self {
        AnyError(error.into())
    }
}

impl From<AnyError> for Box<dyn Error + Send + Sync> {
    fn from(error: AnyError) -> Self {
        error.0
    }
}

/// With a source and a lifetime.
#[derive(Debug)]
struct Wrapped<E>(E);

impl<E: fmt::Display> fmt::Display for Wrapped<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<E: Error + 'static> Error for Wrapped<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

macro_rules! fails_with {
    ($($name:ident: $error:ty = $value:expr;)*) => { $(
        /// Fails.
        #[tool]
        async fn $name() -> Result<u8, $error> {
            $value
        }
    )* };
}

fails_with! {
    io: std::io::Error = Err(std::io::ErrorKind::NotFound.into());
    text: String = Err("no".to_owned());
    literal: &'static str = Err("no");
    boxed: Box<dyn Error + Send + Sync> = Err("no".into());
    cow: std::borrow::Cow<'static, str> = Err("no".into());
    never: std::convert::Infallible = Ok(1);
    any: AnyError = Ok("1".parse()?);
    wrapped: Wrapped<std::num::ParseIntError> = "x".parse().map_err(Wrapped);
    erased: anyhow::Error = Ok("1".parse()?);
}

/// Fails by `?`.
#[tool]
fn question(
    /// A number.
    text: &str,
) -> anyhow::Result<u8> {
    Ok(text.parse()?)
}

fn main() {
    let _ = [IoTool::host, TextTool::host, LiteralTool::host, BoxedTool::host, CowTool::host, NeverTool::host];
    let _ = [AnyTool::host, WrappedTool::host, ErasedTool::host, QuestionTool::host];
}
