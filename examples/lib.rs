//! Runnable examples of tool-runtime, one idea each.
