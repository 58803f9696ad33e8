//! What webhooks need of Rust that is there: calls in a controller's `wire`, and the spec of a kind.

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Fields, FnArg, ImplItemFn, Item, Pat};

use super::{EditError, parsed, words};

/// The name that `wire` gives to what it asks.
const WIRING: &str = "wiring";

/// `text` with each of `calls` (`validates()`) that it does not have yet, at the beginning of its `wire`.
pub(crate) fn wired(text: &str, calls: &[String]) -> Result<String, EditError> {
    let file = parsed(text)?;
    let mut found = Wires::default();
    found.visit_file(&file);
    let [Wire { body, argument }] = found.wires.as_slice() else { return Err(EditError::NoWire) };
    let (mut text, mut body) = (text.to_owned(), *body);
    let name = match argument {
        Argument::Named(name) => name.clone(),
        Argument::Ignored(start, end) => {
            text.replace_range(*start..*end, WIRING);
            body = body + WIRING.len() - (end - start); // the argument is before the body
            WIRING.to_owned()
        }
    };
    let is_missing = |call: &&String| !words(&text).contains(&words(&format!("{name}.{call}")));
    let missing = calls.iter().filter(is_missing);
    let lines: Vec<_> = missing
        .map(|call| {
            format!(
                "
        {name}.{call};"
            )
        })
        .collect();
    text.insert_str(body, &lines.concat());
    Ok(text)
}

/// The text of the struct `name`, and the names of its fields.
pub(crate) fn fields(text: &str, name: &str) -> Result<(String, Vec<String>), EditError> {
    let file = parsed(text)?;
    let found = file.items.iter().find_map(|item| match item {
        Item::Struct(found) if found.ident == name => Some(found),
        _ => None,
    });
    let found = found.ok_or_else(|| EditError::NoStruct(name.to_owned()))?;
    let Fields::Named(fields) = &found.fields else {
        return Err(EditError::NoStruct(name.to_owned()));
    };
    let names = fields.named.iter().filter_map(|field| field.ident.as_ref());
    Ok((text[found.span().byte_range()].to_owned(), names.map(ToString::to_string).collect()))
}

/// The functions called `wire`.
#[derive(Default)]
struct Wires {
    wires: Vec<Wire>,
}

struct Wire {
    /// Just behind the brace of its body.
    body: usize,
    argument: Argument,
}

enum Argument {
    Named(String),
    /// It has no use for it yet; where it says so.
    Ignored(usize, usize),
}

impl<'ast> Visit<'ast> for Wires {
    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if function.sig.ident == "wire"
            && let Some(FnArg::Typed(argument)) = function.sig.inputs.first()
        {
            let place = argument.pat.span().byte_range();
            let argument = match &*argument.pat {
                Pat::Ident(name) if !name.ident.to_string().starts_with('_') => {
                    Argument::Named(name.ident.to_string())
                }
                _ => Argument::Ignored(place.start, place.end),
            };
            let body = function.block.brace_token.span.open().byte_range().end;
            self.wires.push(Wire { body, argument });
        }
        visit::visit_impl_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls() -> Vec<String> {
        vec!["validates()".to_owned(), "converts::<a::B>()".to_owned()]
    }

    #[test]
    fn calls_are_the_first_of_wire_and_are_there_once() {
        let text = "impl Controller for A {\n    fn wire(_: &mut Wiring<B>) -> Self {\n        Self {}\n    }\n}\n";
        let once = wired(text, &calls()).unwrap();
        assert!(once.contains("fn wire(wiring: &mut Wiring<B>)"), "{once}");
        assert!(
            once.contains("Self {\n        wiring.validates();\n        wiring.converts"),
            "{once}"
        );
        assert_eq!(wired(&once, &calls()).unwrap(), once);
    }

    #[test]
    fn the_name_that_people_gave_is_used() {
        let text = "impl C for A { fn wire(asking: &mut W) -> Self { Self { a: asking.owns() } } }";
        assert!(wired(text, &calls()).unwrap().contains("asking.validates();"));
        assert!(wired("fn wire() {}", &calls()).is_err());
    }

    #[test]
    fn a_spec_is_copied_with_its_attributes() {
        let text = "/// About.\n#[kube(version = \"v1\")]\npub struct ASpec {\n    /// One.\n    pub one: i32,\n}\n";
        let (copied, names) = fields(text, "ASpec").unwrap();
        assert_eq!(copied.trim_end(), text.trim_end());
        assert_eq!(names, ["one"]);
        assert!(fields(text, "BSpec").is_err());
    }
}
