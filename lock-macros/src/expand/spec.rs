//! Generates the description of the call: its keys, options and client.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::Expr;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::args::ungrouped;
use crate::key::{Key, KeyList, Segment, Template};
use crate::model::{Call, OnBusy};

use super::{Waiting, allow_underscores, glue_at};

/// A block that yields the call, or for a blocking function the guard.
///
/// It evaluates the key, the other options and the client, in this order. None of their temporaries lives
/// across an await, since the block ends before it.
pub(super) fn acquire(call: &Call, waiting: Waiting, glue: Span) -> TokenStream {
    let options = &call.options;
    let spec = spec(call, glue);
    let settings = options.settings.given().map(|(field, value)| {
        let field = Ident::new(field, glue);
        // The compiler misses the end of an unfinished value at the parenthesis.
        let last = value.to_token_stream().into_iter().last();
        let end = last.map_or(glue, |last| glue_at(last.span()));
        let arguments = quote_spanned!(end=> (&mut __lock_spec.options.#field, #value));
        quote_spanned!(glue=> __lock_rt::set #arguments;)
    });
    let fenced = options
        .token
        .as_ref()
        .map(|_| quote_spanned!(glue=> __lock_spec.options.fenced = true;));
    let skips = (options.on_busy == OnBusy::Skip)
        .then(|| quote_spanned!(glue=> __lock_spec.options.on_busy = __lock_rt::OnBusy::Skip;));
    let begun = match &options.client {
        Some(client) => begin_with(client, waiting, glue),
        None => match waiting {
            Waiting::Async => {
                quote_spanned!(glue=> __lock_rt::Spec::acquire_installed(__lock_spec))
            }
            Waiting::Blocking => {
                quote_spanned!(glue=> __lock_rt::Spec::acquire_installed_blocking(__lock_spec))
            }
        },
    };
    quote_spanned! {glue=>
        {
            #spec
            #(#settings)*
            #fenced
            #skips
            #begun
        }
    }
}

/// Makes `__lock_spec`, with the keys.
fn spec(call: &Call, glue: Span) -> TokenStream {
    let function = call.item.signature.ident.unraw().to_string();
    match &call.keys {
        KeyList::One(Key::Template(template)) => {
            let (label, writes) = (template.literal.value(), spec_writes(template));
            let template = key_template(template);
            quote_spanned! {glue=>
                let mut __lock_spec = __lock_rt::Spec::new(&[#function, #label], &[#template]);
                #writes
            }
        }
        // The function's name is the metric label: an expression has too many values for one.
        KeyList::One(Key::Expr(expr)) => {
            let key = expression_key(expr);
            quote_spanned! {glue=>
                let __lock_key = #key;
                let mut __lock_spec = __lock_rt::Spec::keyed(&[#function, #function], __lock_key);
            }
        }
        KeyList::Elements(keys) => spec_of_elements(keys, &function, glue),
        KeyList::Expr(expr) => {
            let keys = expression_keys(expr);
            quote_spanned! {glue=>
                let __lock_keys = #keys;
                let mut __lock_spec = __lock_rt::Spec::several(&[#function, #function], __lock_keys);
            }
        }
    }
}

/// Begins the call with the client of `client = …`.
///
/// A statement of its own drops the expression's temporaries, such as a mutex guard, before the call waits. The block's
/// value would keep them in edition 2021.
fn begin_with(client: &Expr, waiting: Waiting, glue: Span) -> TokenStream {
    let span = glue_at(client.span());
    let borrowed = quote_spanned!(span=> &(#client));
    match waiting {
        Waiting::Async => quote_spanned! {glue=>
            let __lock_call = __lock_rt::Spec::acquire(__lock_spec, #borrowed);
            __lock_call
        },
        Waiting::Blocking => quote_spanned! {glue=>
            let __lock_asked = __lock_rt::Spec::ask(__lock_spec, #borrowed);
            __lock_rt::Acquire::acquire_blocking(__lock_asked)
        },
    }
}

/// The template of a key, for the runtime.
pub(crate) fn key_template(template: &Template) -> TokenStream {
    let (text, outline) = (template.literal.value(), template.outline());
    let glue = glue_at(template.literal.span());
    quote_spanned!(glue=> __lock_rt::KeyTemplate(#text, #outline))
}

fn spec_writes(template: &Template) -> TokenStream {
    let glue = glue_at(template.literal.span());
    template_writes(template, &quote_spanned!(glue=> &mut __lock_spec.writer))
}

/// Writes the key, a statement for each value with the text before it. Each statement drops the
/// temporaries of its value before the next value is evaluated.
pub(crate) fn template_writes(template: &Template, writer: &TokenStream) -> TokenStream {
    let span = glue_at(template.literal.span());
    let mut text = "";
    let mut writes = TokenStream::new();
    for segment in &template.segments {
        match segment {
            Segment::Text(segment) => text = segment,
            Segment::Value { source, expr } => {
                let allow = allow_underscores(source, span);
                writes.extend(quote_spanned! {span=>
                    #allow __lock_rt::TemplateWriter::part(#writer, &[#text, #source], &#expr);
                });
                text = "";
            }
        }
    }
    if !text.is_empty() {
        writes.extend(quote_spanned!(span=> __lock_rt::TemplateWriter::text(#writer, #text);));
    }
    writes
}

/// Writes the keys one after the other.
fn spec_of_elements(keys: &[Key], function: &str, glue: Span) -> TokenStream {
    let mut statements = TokenStream::new();
    for key in keys {
        statements.extend(match key {
            Key::Template(template) => {
                let (span, writes) = (glue_at(template.literal.span()), spec_writes(template));
                quote_spanned!(span=> #writes __lock_rt::Spec::next(&mut __lock_spec);)
            }
            Key::Expr(expr) => {
                let (span, key) = (glue_at(expr.span()), expression_key(expr));
                quote_spanned! {span=>
                    let __lock_key = #key;
                    __lock_rt::Spec::key(&mut __lock_spec, __lock_key);
                }
            }
        });
    }
    let label = label(keys, function);
    let templates = keys.iter().map(|key| match key {
        Key::Template(template) => key_template(template),
        Key::Expr(_) => quote_spanned!(glue=> __lock_rt::KeyTemplate::NONE),
    });
    quote_spanned! {glue=>
        let mut __lock_spec = __lock_rt::Spec::new(&[#function, #label], &[#(#templates),*]);
        #statements
    }
}

/// The metric label of several keys. An expression has too many values for one.
fn label(keys: &[Key], function: &str) -> String {
    let templates = keys.iter().map(|key| match key {
        Key::Template(template) => Some(template.literal.value()),
        Key::Expr(_) => None,
    });
    if templates.clone().all(|template| template.is_none()) {
        return function.to_owned();
    }
    let templates: Vec<_> = templates
        .map(|template| template.unwrap_or_else(|| "…".to_owned()))
        .collect();
    templates.join(", ")
}

/// Makes all keys of an expression, whose temporaries live until then.
fn expression_keys(expr: &Expr) -> TokenStream {
    let span = glue_at(expr.span());
    let expr = ungrouped(expr);
    quote_spanned! {span=>
        match (#expr) {
            __lock_keys => {
                let __lock_is_text = {
                    use __lock_rt::NotTextList as _;
                    __lock_rt::KeyListText(&__lock_keys).lock_key_list_is_text()
                };
                __lock_rt::key_list(__lock_keys, __lock_is_text)
            }
        }
    }
}

/// Makes the key of an expression, whose temporaries live until then.
pub(crate) fn expression_key(expr: &Expr) -> TokenStream {
    let span = glue_at(expr.span());
    let expr = ungrouped(expr);
    quote_spanned! {span=>
        match (#expr) {
            __lock_key => {
                let __lock_is_text = {
                    use __lock_rt::NotText as _;
                    __lock_rt::KeyText(&__lock_key).lock_key_is_text()
                };
                __lock_rt::key(__lock_key, __lock_is_text)
            }
        }
    }
}
