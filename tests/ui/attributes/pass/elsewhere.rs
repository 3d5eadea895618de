// The SDK under another name and path, for frameworks that re-export it.
extern crate tool_runtime as renamed;

mod framework {
    pub use ::tool_runtime as sdk;

    pub mod deep {
        pub mod tools {
            pub use ::tool_runtime::*;
        }
    }

    #[macro_export]
    macro_rules! ping_tool {
        ($name:ident) => {
            /// Pings.
            #[$crate::framework::sdk::tool(crate = $crate::framework::sdk)]
            fn $name(
                /// How often.
                times: u32,
            ) -> $name::Pong {
                $name::Pong { times }
            }

            mod $name {
                #[$crate::framework::sdk::tool_type(crate = $crate::framework::sdk)]
                pub struct Pong {
                    #[arg(default = 1)]
                    pub times: u32,
                }
            }
        };
    }
}

// So that the default path leads nowhere.
mod inner {
    use crate::framework;

    #[framework::sdk::tool_type(crate = "crate::framework::sdk")]
    pub struct Place {
        pub city: String,
    }

    pub struct Files;

    #[framework::deep::tools::toolset(crate = crate::framework::deep::tools)]
    impl Files {
        /// Reads.
        #[tool]
        pub fn read(&self) {}
    }

    /// Adds.
    #[renamed::tool(crate = renamed)]
    pub fn add(
        /// The first.
        place: Place,
    ) -> String {
        place.city
    }
}

ping_tool!(ping);

fn main() {
    let _ = (PingTool::host(), inner::AddTool::host(), std::sync::Arc::new(inner::Files).tools());
    assert_eq!(inner::add(inner::Place { city: "Rom".to_owned() }), "Rom");
}
