//! The description of the call: key, options, client.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::Expr;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::args::ungrouped;
use crate::key::{Key, Segment, Template};
use crate::model::Call;

use super::{allow_underscores, glue_at};

/// `let __lock_asked = …`, evaluating the key, the lengths and the client, in this order. The client is
/// borrowed in a statement of its own, so that nothing of its expression lives across an await.
pub(super) fn asked(call: &Call, glue: Span) -> TokenStream {
    let options = &call.options;
    let function = call.item.signature.ident.unraw().to_string();
    let (key, template) = match &call.key {
        Key::Template(template) => (template_key(template), template.literal.value()),
        // The values that an expression may yield are no label for a metric.
        Key::Expr(expr) => (expression_key(expr), function.clone()),
    };
    let ttl = options.ttl.iter();
    let wait = options.wait.iter();
    let max_hold = options.max_hold.iter();
    let renew = options.renew.iter();
    let reentrant = options.reentrant.iter();
    let on = match &options.client {
        None => quote_spanned!(glue=> on_installed()),
        Some(client) => {
            let span = glue_at(client.span());
            let borrowed = quote_spanned!(span=> &(#client));
            quote_spanned!(glue=> on(#borrowed))
        }
    };
    quote_spanned! {glue=>
        let __lock_key = #key;
        let __lock_spec = __lock_rt::Spec::new(__lock_key, #function, #template)
            #(.ttl(#ttl))*
            #(.wait(#wait))*
            #(.max_hold(#max_hold))*
            #(.renew(#renew))*
            #(.reentrant(#reentrant))*;
        let __lock_asked = __lock_spec.#on;
    }
}

fn template_key(template: &Template) -> TokenStream {
    let span = glue_at(template.literal.span());
    let writes = template.segments.iter().map(|segment| match segment {
        Segment::Text(text) => quote_spanned!(span=> __lock_key.text(#text);),
        Segment::Value { source, expr } => {
            let allow = allow_underscores(source, span);
            quote_spanned!(span=> #allow __lock_rt::part(&mut __lock_key, #source, &#expr);)
        }
    });
    quote_spanned! {span=>
        {
            let mut __lock_key = __lock_rt::KeyWriter::new();
            #(#writes)*
            __lock_key.finish()
        }
    }
}

/// The temporaries of the expression live until the key was made of its value.
fn expression_key(expr: &Expr) -> TokenStream {
    let span = glue_at(expr.span());
    let expr = ungrouped(expr);
    quote_spanned! {span=>
        match (#expr) {
            __lock_key => {
                let __lock_is_text = {
                    use __lock_rt::NotText as _;
                    __lock_rt::KeyText(&__lock_key).is_text()
                };
                __lock_rt::key(__lock_key, __lock_is_text)
            }
        }
    }
}
