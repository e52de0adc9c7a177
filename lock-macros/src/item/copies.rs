//! Recognises statements that only copy a value: `let inner = self.inner.clone();`.

use syn::{Expr, FnArg, Ident, Local, Pat, ReceiverKind, Signature, Stmt, Type};

use super::names::Names;

/// Counts the statements at the head of a body that only copy a value.
///
/// They run when the function is called, as they do without the attribute. The future may outlive
/// the values that they copy from.
pub(super) fn leading(statements: &[Stmt], signature: &Signature) -> usize {
    let arguments = Names::of(signature);
    let copies = statements.iter().take_while(|statement| match statement {
        Stmt::Local(local) => is_copy(local, signature, &arguments),
        _ => false,
    });
    copies.count()
}

fn is_copy(local: &Local, signature: &Signature, arguments: &Names) -> bool {
    let (Some(name), Some(init)) = (name(&local.pat), &local.init) else {
        return false;
    };
    let Some(copied) = copied(&init.expr) else {
        return false;
    };
    // A value that is not cloned is moved, unless its root is a reference. An option may still need it.
    let stays = copied.cloned || is_reference(copied.root, signature);
    // An option that names the argument must find the same value under the name.
    let hides = arguments.find(&name.to_string()).is_some();
    init.diverge.is_none() && stays && (!hides || copied.is_whole(name))
}

/// The name of a pattern that binds exactly one.
fn name(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(pattern) if pattern.subpat.is_none() && pattern.by_ref.is_none() => {
            Some(&pattern.ident)
        }
        Pat::Type(typed) => name(&typed.pat),
        _ => None,
    }
}

fn is_reference(name: &Ident, signature: &Signature) -> bool {
    signature.inputs.iter().any(|argument| match argument {
        FnArg::Receiver(receiver) => {
            name == "self" && matches!(receiver.kind, ReceiverKind::Reference(..))
        }
        FnArg::Typed(argument) => {
            matches!(&*argument.pat, Pat::Ident(pattern) if pattern.ident == *name)
                && matches!(&*argument.ty, Type::Reference(_))
        }
    })
}

/// The source of a copy.
struct Copied<'a> {
    root: &'a Ident,
    /// The copy is not the variable itself, but a field of it or its text.
    changed: bool,
    cloned: bool,
}

impl Copied<'_> {
    fn is_whole(&self, name: &Ident) -> bool {
        self.root == name && !self.changed
    }
}

/// Recognises `place`, methods such as `place.clone()`, and `Arc::clone(&place)`.
fn copied(expr: &Expr) -> Option<Copied<'_>> {
    match expr {
        Expr::MethodCall(call) if call.args.is_empty() && call.turbofish.is_none() => {
            let place = place(&call.receiver)?;
            let changed = ["to_string", "to_vec"]
                .iter()
                .any(|name| call.method == name);
            let same = ["clone", "to_owned"].iter().any(|name| call.method == name);
            (changed || same).then_some(Copied {
                changed: changed || place.changed,
                cloned: true,
                ..place
            })
        }
        Expr::Call(call) if call.args.len() == 1 => {
            let (Expr::Path(function), Some(Expr::Reference(argument))) =
                (&*call.func, call.args.first())
            else {
                return None;
            };
            let path = &function.path;
            let last = path.segments.last()?;
            let clones = path.segments.len() > 1 && last.ident == "clone";
            (clones && argument.mutability.is_none())
                .then(|| place(&argument.expr))
                .flatten()
                .map(|place| Copied {
                    cloned: true,
                    ..place
                })
        }
        other => place(other),
    }
}

/// Recognises a variable or a field.
fn place(expr: &Expr) -> Option<Copied<'_>> {
    match expr {
        Expr::Path(path) => Some(Copied {
            root: path.path.get_ident()?,
            changed: false,
            cloned: false,
        }),
        Expr::Field(field) => Some(Copied {
            changed: true,
            ..place(&field.base)?
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leading_in(body: &str) -> usize {
        let parser = syn::Block::parse_within;
        let statements = syn::parse::Parser::parse_str(parser, body).unwrap();
        let signature = "fn f(&self, id: &Id, order: Order) -> R";
        leading(&statements, &syn::parse_str(signature).unwrap())
    }

    #[test]
    fn copying_statement_is_recognised() {
        for statement in [
            "let inner = self.inner.clone();",
            "let mut inner: Inner = self.0.inner.clone();",
            "let inner = Arc::clone(&self.inner);",
            "let inner = std::sync::Arc::clone(&order.inner);",
            "let name = self.name.to_owned();",
            "let text = id.to_string();",
            "let this = self.clone();",
            "let count = self.count;",
            "let number = id.number;",
            "let id = id.clone();",
            "let id = Id::clone(&id);",
            "let order = order.clone();",
        ] {
            assert_eq!(leading_in(statement), 1, "{statement}");
        }
    }

    #[test]
    fn statement_that_does_more_is_not_a_copy() {
        for statement in [
            "charge();",
            "let count = self.count();",
            "let inner = self.lock().clone();",
            "let inner = self.inner[0].clone();",
            "let inner = &self.inner;",
            "let inner = clone(&self.inner);",
            "let inner = Arc::clone(&mut self.inner);",
            "let inner = self.inner.clone() else { return };",
            "let (a, b) = self.pair.clone();",
            "let n = 1;",
            "let x;",
            "self.inner.clone();",
            // An option could no longer use the argument.
            "let name = order.name;",
            "let order = order;",
            // An option would find another value under the name.
            "let id = self.id.clone();",
            "let id = order.id.clone();",
            "let id = id.to_string();",
        ] {
            assert_eq!(leading_in(statement), 0, "{statement}");
        }
    }

    #[test]
    fn copy_after_another_statement_is_not_counted() {
        assert_eq!(
            leading_in("let a = self.a.clone(); let b = self.b; go(); let c = self.c;"),
            2
        );
    }
}
