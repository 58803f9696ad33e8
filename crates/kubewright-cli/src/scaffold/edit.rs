//! Edits of Rust that is there already: by parsing it, never by comments that mark a place. Pure: text in,
//! text out, and only the text that is added differs.

mod webhook;

use std::ops::Range;

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprMethodCall, File, Item};

pub(crate) use webhook::{fields, wired};

/// The calls that describe an operator; new ones go after the last of them.
const DESCRIBING: [&str; 6] = ["controller", "environment", "kind", "project", "sample", "version"];

/// Why a file cannot be edited.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EditError {
    /// It is not Rust, as it is now.
    #[error("line {line} is not valid Rust ({message})")]
    Syntax {
        /// Where.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// There is no operator to add something to.
    #[error("there is no `Operator::new(…)` in it")]
    NoOperator,
    /// There is more than one.
    #[error("there is more than one `Operator::new(…)` in it")]
    Operators,
    /// There is no controller to add something to.
    #[error("there is no `fn wire` in it, or more than one")]
    NoWire,
    /// It is not where it was scaffolded.
    #[error("there is no struct `{0}` with named fields in it")]
    NoStruct(String),
}

fn parsed(text: &str) -> Result<File, EditError> {
    syn::parse_file(text).map_err(|error| EditError::Syntax {
        line: error.span().start().line,
        message: error.to_string(),
    })
}

/// `text` with each of `declarations` (`mod a;`, `pub use a::B;`) that it does not have yet.
///
/// Modules go after the last module, or before the first item; the rest follows them.
pub(crate) fn declare(text: &str, declarations: &[String]) -> Result<String, EditError> {
    let file = parsed(text)?;
    let is_missing = |declaration: &&String| {
        let items = file.items.iter().map(|item| &text[without_documentation(text, item)]);
        !items.into_iter().any(|item| words(item) == words(declaration))
    };
    let missing: Vec<_> = declarations.iter().filter(is_missing).collect();
    if missing.is_empty() {
        return Ok(text.to_owned());
    }
    let lines: String = missing.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    let mut modules = file
        .items
        .iter()
        .filter(|item| matches!(item, Item::Mod(module) if module.content.is_none()));
    if let Some(last) = modules.next_back() {
        let end = end_of_line(text, last.span().byte_range().end);
        return Ok(format!("{}{lines}{}", &text[..end], &text[end..]));
    }
    let start = file.items.first().map_or(text.len(), |item| item.span().byte_range().start);
    Ok(format!("{}{lines}\n{}", &text[..start], &text[start..]))
}

/// `text` with `calls` added to its operator, as `.controller::<A>()`.
pub(crate) fn describe(text: &str, calls: &[String]) -> Result<String, EditError> {
    let file = parsed(text)?;
    let mut found = Chains::default();
    found.visit_file(&file);
    let (end, indentation) = match found.operators.as_slice() {
        [] => return Err(EditError::NoOperator),
        [operator] => found.last_call(text, operator),
        _ => return Err(EditError::Operators),
    };
    let (before, after) = text.split_at(end);
    let is_missing = |call: &&String| !words(text).contains(&words(call));
    let mut lines = String::new();
    for call in calls.iter().filter(is_missing) {
        lines.extend(["\n", &indentation, call]);
    }
    Ok(format!("{before}{lines}{after}"))
}

/// `text` without the call `.method::<…type_>()`.
pub(crate) fn without_call(text: &str, method: &str, type_: &str) -> Result<String, EditError> {
    let file = parsed(text)?;
    let mut found = Chains::default();
    found.visit_file(&file);
    let is_meant = |call: &&Call| {
        call.method == method && format!("::{}", call.type_).ends_with(&format!("::{type_}"))
    };
    let call = found.calls.iter().find(is_meant);
    let Some(Call { whole, receiver_end, .. }) = call else { return Ok(text.to_owned()) };
    Ok(format!("{}{}", &text[..*receiver_end], &text[whole.end..]))
}

/// The calls on `Operator::new(…)`.
#[derive(Default)]
struct Chains {
    operators: Vec<Range<usize>>,
    calls: Vec<Call>,
}

struct Call {
    method: String,
    /// Its type parameter, as `a::B`.
    type_: String,
    /// From the start of the chain to the end of the call.
    whole: Range<usize>,
    receiver_end: usize,
    /// Where its dot is.
    dot: usize,
}

impl Chains {
    /// Where the last describing call ends, and what a line after it begins with.
    fn last_call(&self, text: &str, operator: &Range<usize>) -> (usize, String) {
        let describing = |call: &&Call| DESCRIBING.contains(&call.method.as_str());
        let last = self.calls.iter().filter(describing).max_by_key(|call| call.whole.end);
        let (end, dot) = last.map_or((operator.end, None), |call| (call.whole.end, Some(call.dot)));
        let line = |place: usize| text[..place].rfind('\n').map_or(0, |end| end + 1);
        let indentation = match dot {
            Some(dot) if text[line(dot)..dot].trim().is_empty() => text[line(dot)..dot].to_owned(),
            _ => {
                let start = line(operator.start);
                let own: String = text[start..].chars().take_while(|one| *one == ' ').collect();
                format!("{own}    ")
            }
        };
        (end, indentation)
    }
}

impl<'ast> Visit<'ast> for Chains {
    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if is_operator(call) {
            self.operators.push(call.span().byte_range());
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let mut root = &*call.receiver;
        while let Expr::MethodCall(inner) = root {
            root = &inner.receiver;
        }
        if matches!(root, Expr::Call(root) if is_operator(root)) {
            let parameters = call.turbofish.as_ref().and_then(|parameters| parameters.args.first());
            let type_ = match parameters {
                Some(syn::GenericArgument::Type(syn::Type::Path(path))) => {
                    let words = path.path.segments.iter().map(|segment| segment.ident.to_string());
                    Some(words.collect::<Vec<_>>().join("::"))
                }
                _ => None,
            };
            self.calls.push(Call {
                method: call.method.to_string(),
                type_: type_.unwrap_or_default(),
                whole: call.span().byte_range(),
                receiver_end: call.receiver.span().byte_range().end,
                dot: call.dot_token.span().byte_range().start,
            });
        }
        visit::visit_expr_method_call(self, call);
    }
}

fn is_operator(call: &ExprCall) -> bool {
    let Expr::Path(function) = &*call.func else { return false };
    let words: Vec<_> =
        function.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    words.ends_with(&["Operator".to_owned(), "new".to_owned()])
}

/// An item from its first word on, without comments and attributes.
fn without_documentation(text: &str, item: &Item) -> Range<usize> {
    let whole = item.span().byte_range();
    let attributes = match item {
        Item::Mod(module) => &module.attrs,
        Item::Use(import) => &import.attrs,
        _ => return whole,
    };
    let start = attributes.last().map_or(whole.start, |last| last.span().byte_range().end);
    let spaces = text[start..].len() - text[start..].trim_start().len();
    start + spaces..whole.end
}

fn end_of_line(text: &str, place: usize) -> usize {
    text[place..].find('\n').map_or(text.len(), |end| place + end + 1)
}

/// The text without spaces: where they are is a matter of form. `pub` makes no difference either.
fn words(text: &str) -> String {
    let text: String = text.chars().filter(|one| !one.is_whitespace()).collect();
    text.strip_prefix("pub").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests;
