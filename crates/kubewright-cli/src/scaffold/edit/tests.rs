//! Edits of files as people have made them.

use super::*;

fn declarations(text: &str, declaration: &str) -> String {
    declare(text, &[declaration.to_owned()]).unwrap()
}

fn described(text: &str, call: &str) -> String {
    describe(text, &[call.to_owned()]).unwrap()
}

#[test]
fn a_module_goes_after_the_last_one_with_whatever_is_behind_it() {
    let text = "//! About.\n\n/// One.\npub mod one; // why\nmod two {}\n\nuse a::B;\n";
    let expected =
        "//! About.\n\n/// One.\npub mod one; // why\npub mod three;\nmod two {}\n\nuse a::B;\n";
    assert_eq!(declarations(text, "pub mod three;"), expected);
}

#[test]
fn the_first_module_goes_before_the_first_item_and_after_what_is_said_of_the_file() {
    let text = "//! About.\n#![warn(missing_docs)]\n\n// Imports.\nuse a::B;\n";
    let expected = "//! About.\n#![warn(missing_docs)]\n\n// Imports.\nmod one;\n\nuse a::B;\n";
    assert_eq!(declarations(text, "mod one;"), expected);
    assert_eq!(declarations("//! About.\n", "mod one;"), "//! About.\nmod one;\n\n");
}

#[test]
fn a_module_that_is_there_is_not_added_again() {
    for text in ["mod one;\n", "pub mod one;\n", "/// About.\n#[cfg(test)]\npub mod one;\n"] {
        assert_eq!(declarations(text, "pub mod one;"), text);
    }
}

#[test]
fn a_call_goes_after_the_last_that_describes_the_operator() {
    let text = "fn main() -> ExitCode {\n    Operator::new(NAME) // ours\n        .version(\"1\")\n        .clock(c)\n        .main()\n}\n";
    let expected = "fn main() -> ExitCode {\n    Operator::new(NAME) // ours\n        .version(\"1\")\n        .controller::<a::B>()\n        .clock(c)\n        .main()\n}\n";
    assert_eq!(described(text, ".controller::<a::B>()"), expected);
}

#[test]
fn an_operator_of_one_line_gets_lines_of_its_own() {
    let text = "fn operator() -> Operator {\n    kubewright::Operator::new(\"a\")\n}\n";
    let expected = "fn operator() -> Operator {\n    kubewright::Operator::new(\"a\")\n        .controller::<a::B>()\n}\n";
    assert_eq!(described(text, ".controller::<a::B>()"), expected);
    assert_eq!(described(expected, ".controller::<a::B>()"), expected);
}

#[test]
fn a_call_is_taken_out_wherever_it_stands() {
    let text = "fn f() { Operator::new(\"a\").kind::<a::One>().kind::<b::Two>().sample(x) }";
    let expected = "fn f() { Operator::new(\"a\").kind::<b::Two>().sample(x) }";
    assert_eq!(without_call(text, "kind", "One").unwrap(), expected);
    assert_eq!(without_call(text, "kind", "Three").unwrap(), text);
}

#[test]
fn what_cannot_be_edited_is_said() {
    let said = |text: &str| describe(text, &[String::new()]).unwrap_err().to_string();
    assert!(said("\nfn (").starts_with("line 2 is not valid Rust"));
    assert_eq!(said("fn main() {}"), "there is no `Operator::new(…)` in it");
    let two = "fn a() { Operator::new(\"a\"); Operator::new(\"b\"); }";
    assert_eq!(said(two), "there is more than one `Operator::new(…)` in it");
}
