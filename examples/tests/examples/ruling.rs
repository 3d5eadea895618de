//! What `ruling` says of plans.

use examples::ruling;

#[test]
fn ruling_gives_one_line_for_each() {
    let sample = r#"[{"id":7},"found"]"#;
    let line = format!(r#"{{"tool":{{"deterministic":true,"verified":true}},"samples":[{}]}}"#, [sample; 5].join(","));
    let mut out = Vec::new();
    ruling::run(&mut [line.as_bytes(), b"\n\n\xff\n{"].concat().as_slice(), &mut out).unwrap();
    let outside = r#"{"ruling":"error","argument_agreement":null,"result_agreement":null,"reason":"outside_domain"}"#;
    let accepted = r#"{"ruling":"accept","argument_agreement":1,"result_agreement":1,"reason":"agreed"}"#;
    assert_eq!(String::from_utf8(out).unwrap().lines().collect::<Vec<_>>(), [accepted, outside, outside, outside]);
}
