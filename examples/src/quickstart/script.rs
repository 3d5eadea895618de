//! What the model says, as OpenAI's Chat Completions deliver it.

/// One turn of the model.
pub(super) struct Scene {
    /// What happens.
    pub(super) title: &'static str,
    /// What to look at.
    pub(super) note: &'static str,
    /// The assistant message, or the whole response.
    pub(super) message: &'static str,
}

/// The conversation, in order.
pub(super) const SCENES: &[Scene] = &[
    Scene {
        title: "A good call",
        note: "Defaults are filled in before anything is judged. The model reads a narration; a person sees a card.",
        message: r#"{
            "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
            "object": "chat.completion",
            "created": 1772442000,
            "model": "gpt-4.1",
            "choices": [{
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": null,
                    "tool_calls": [{
                        "id": "call_Xq1",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}
                    }],
                    "refusal": null
                },
                "logprobs": null,
                "finish_reason": "tool_calls"
            }],
            "usage": {"prompt_tokens": 412, "completion_tokens": 16, "total_tokens": 428}
        }"#,
    },
    Scene {
        title: "A misspelt name",
        note: "The failure is a result, not an exception: the model reads it, and its next turn is right.",
        message: r#"{"role": "assistant", "content": null, "refusal": null, "tool_calls": [
            {"id": "call_Xq2", "type": "function", "function": {
                "name": "notes_search", "arguments": "{\"query\":\"boat\",\"limt\":10}"}}
        ]}"#,
    },
    Scene {
        title: "Corrected",
        note: "",
        message: r#"{"role": "assistant", "content": null, "refusal": null, "tool_calls": [
            {"id": "call_Xq3", "type": "function", "function": {
                "name": "notes_search", "arguments": "{\"query\":\"boat\",\"limit\":10}"}}
        ]}"#,
    },
    Scene {
        title: "Several mistakes",
        note: "All problems come in one result, at every depth, each with its path.",
        message: r#"{"role": "assistant", "content": "I'll set that up.", "refusal": null, "tool_calls": [
            {"id": "call_Xq4", "type": "function", "function": {
                "name": "schedule_meeting",
                "arguments": "{\"title\":\"Boat naming\",\"start\":\"tomorrow at nine\",\"minutes\":600,\"attendees\":[{\"name\":\"Ada\",\"email\":\"ada@example.org\",\"role\":\"speeker\"},{\"name\":\"Grace\",\"mail\":\"grace@example.org\"}]}"}}
        ]}"#,
    },
    Scene {
        title: "Denied; asked about",
        note: "The policy is code outside of every tool. A person is asked about the second call, and says yes.",
        message: r#"{"role": "assistant", "content": null, "refusal": null, "tool_calls": [
            {"id": "call_Xq5", "type": "function", "function": {
                "name": "transfer_money",
                "arguments": "{\"to\":\"DE89370400440532013000\",\"cents\":2500000,\"code\":\"493817\"}"}},
            {"id": "call_Xq6", "type": "function", "function": {
                "name": "transfer_money",
                "arguments": "{\"to\":\"DE89370400440532013000\",\"cents\":4000.0,\"code\":\"493817\"}"}}
        ]}"#,
    },
    Scene {
        title: "Overlap, and a barrier",
        note: "Forecasts may overlap, says their tool. The meeting runs alone: it waits for both, and the last waits for it.",
        message: r#"{"role": "assistant", "content": null, "refusal": null, "tool_calls": [
            {"id": "call_Xqa", "type": "function", "function": {
                "name": "get_weather", "arguments": "{\"city\":\"Oslo\",\"days\":1}"}},
            {"id": "call_Xqb", "type": "function", "function": {
                "name": "get_weather", "arguments": "{\"city\":\"Paris\",\"days\":1}"}},
            {"id": "call_Xqc", "type": "function", "function": {
                "name": "schedule_meeting",
                "arguments": "{\"title\":\"Boat naming\",\"start\":\"2026-03-02T09:30:00Z\",\"attendees\":[{\"name\":\"Ada\",\"email\":\"ada@example.org\"}]}"}},
            {"id": "call_Xqd", "type": "function", "function": {
                "name": "get_weather", "arguments": "{\"city\":\"Oslo\",\"days\":2}"}}
        ]}"#,
    },
    Scene {
        title: "A tool's error",
        note: "The model reads the error's own words; the chain of causes is the host's.",
        message: r#"{"role": "assistant", "content": null, "refusal": null, "tool_calls": [
            {"id": "call_Xq7", "type": "function", "function": {
                "name": "notes_read", "arguments": "{\"path\":\"./ideas/../ideas/cat.md\"}"}}
        ]}"#,
    },
    Scene {
        title: "A slow tool",
        note: "The budget is never sent to a model. The text says that the effects may have happened.",
        message: r#"{"role": "assistant", "content": null, "refusal": null, "tool_calls": [
            {"id": "call_Xq8", "type": "function", "function": {
                "name": "build_report", "arguments": "{\"year\":2025}"}}
        ]}"#,
    },
    Scene {
        title: "A panic",
        note: "The loop goes on, and the words of the panic stay in the host.",
        message: r#"{"role": "assistant", "content": null, "refusal": null, "tool_calls": [
            {"id": "call_Xq9", "type": "function", "function": {
                "name": "notes_average_length", "arguments": "{\"folder\":\"recipes\"}"}}
        ]}"#,
    },
];
