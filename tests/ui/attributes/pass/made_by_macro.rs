use tool_runtime::{HostTool, tool, tool_type};

macro_rules! getter {
    ($(#[$meta:meta])* $name:ident, $doc:literal, $key:literal, $arg:ident: $ty:ty = $default:expr, -> $ret:ty $body:block) => {
        $(#[$meta])*
        #[doc = $doc]
        #[tool(host(timeout = $key, read_only))]
        fn $name(
            #[doc = $doc]
            #[arg(default = $default, rename = $doc)]
            $arg: $ty,
            /// Always there.
            #[arg(range = 1..=10)]
            _count: u8,
        ) -> $ret $body
    };
}

macro_rules! kind {
    ($name:ident { $($variant:ident),* }) => {
        #[tool_type]
        #[derive(Debug)]
        enum $name { $($variant),* }
    };
}

kind!(Unit { Celsius, Fahrenheit });

getter!(
    #[allow(unused_variables)]
    weather, "Weather.", "5s", unit: Option<Unit> = Some(Unit::Celsius), -> Result<String, String> { Ok(format!("{unit:?}")) }
);
getter!(ping, "Ping.", "250ms", host: String = "localhost", -> usize { host.len() });

macro_rules! all {
    ($($tool:ident),*) => { vec![$($tool::host()),*] };
}

fn main() {
    let all: Vec<HostTool> = all![WeatherTool, PingTool];
    assert_eq!(all[1].schema().description(), "Ping.");
    assert!(all[1].schema().parameters().contains(r#""Ping.":{"#), "{:?}", all[1].schema());
    assert_eq!(weather(Some(Unit::Fahrenheit), 1).unwrap(), "Some(Fahrenheit)");
    assert_eq!(ping("pong".to_owned(), 1), 4);
    let _ = Unit::Celsius;
}
