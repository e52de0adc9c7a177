//! Expectations about whole functions, each fulfilled without the attribute. `../lints.rs` compiles them with it.

#![warn(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
#![allow(
    clippy::pedantic,
    clippy::nursery,
    clippy::restriction,
    dead_code,
    reason = "each function names the lint that it is about"
)]

use std::future::Future;

#[cfg(feature = "locked")]
use lock_runtime::distributed_lock;
use lock_runtime::LockError;

pub type Answer<T = u8> = Result<T, LockError>;

pub struct View<'v>(pub &'v str);

pub struct Shop {
    name: String,
    owner: String,
}

#[expect(clippy::unused_async, reason = "the trait of a framework wants it")]
#[cfg_attr(feature = "locked", distributed_lock(key = "unused_async"))]
pub async fn unused_async(id: u8) -> Answer {
    Ok(id)
}

#[cfg_attr(feature = "locked", distributed_lock(key = "below the attribute"))]
#[expect(clippy::unused_async, clippy::missing_errors_doc)]
pub async fn below_the_attribute(name: String) -> Answer<usize> {
    Ok(name.len())
}

#[cfg_attr(feature = "locked", distributed_lock(key = "inside"))]
pub async fn inside(id: u8) -> Answer {
    #![expect(clippy::unused_async)]
    Ok(id)
}

#[cfg_attr(feature = "locked", distributed_lock(key = "conditional"))]
#[cfg_attr(all(), expect(clippy::unused_async), doc = "Conditional.")]
pub async fn conditional(id: u8) -> Answer {
    Ok(id)
}

#[expect(clippy::unused_async, unused_variables, reason = "one of each kind")]
#[cfg_attr(feature = "locked", distributed_lock(key = "mixed"))]
pub async fn mixed(id: u8) -> Answer {
    Ok(1)
}

#[expect(clippy::pedantic, reason = "a group, of which nothing else is left")]
#[cfg_attr(feature = "locked", distributed_lock(key = "group"))]
pub async fn group(id: u8) -> Answer {
    Ok(id)
}

#[expect(
    clippy::boxed_local,
    clippy::extra_unused_lifetimes,
    clippy::needless_pass_by_ref_mut,
    clippy::needless_pass_by_value,
    clippy::ptr_arg,
    clippy::trivially_copy_pass_by_ref,
    clippy::used_underscore_binding
)]
#[cfg_attr(feature = "locked", distributed_lock(key = "arguments"))]
fn arguments<'a>(name: String, list: &Vec<u8>, all: &mut Vec<u8>, boxed: Box<u8>, id: &u8, _other: u8) -> Answer<usize> {
    let ids = (*boxed).max(*id).max(_other);
    Ok(name.len().max(list.len()).max(all.len()).max(usize::from(ids)))
}

#[expect(clippy::implicit_return, clippy::missing_const_for_fn, clippy::unnecessary_wraps)]
#[cfg_attr(feature = "locked", distributed_lock(key = "value"))]
fn value(id: u8) -> Answer {
    Ok(id)
}

#[expect(clippy::default_numeric_fallback, clippy::let_and_return)]
#[cfg_attr(feature = "locked", distributed_lock(key = "local"))]
pub fn local(_id: u8) -> Answer<i32> {
    let number = 3;
    let done = Ok(number);
    done
}

#[expect(clippy::missing_panics_doc, clippy::panic_in_result_fn, clippy::unwrap_in_result)]
#[cfg_attr(feature = "locked", distributed_lock(key = "panics"))]
pub fn panics(id: Result<u8, u8>) -> Answer {
    let id = id.unwrap();
    assert!(id > 0);
    Ok(id)
}

#[expect(clippy::cognitive_complexity, clippy::too_many_lines)]
#[cfg_attr(feature = "locked", distributed_lock(key = "long"))]
pub fn long(id: u8) -> Answer {
    if id > 1 {
        if id > 2 {
            return Ok(1);
        }
    }
    Ok(id)
}

#[expect(clippy::missing_panics_doc)]
#[cfg_attr(feature = "locked", distributed_lock(key = "missing_panics_doc"))]
pub async fn missing_panics_doc_async(id: Option<u8>) -> Answer {
    Ok(id.unwrap())
}

#[expect(clippy::needless_return)]
#[cfg_attr(feature = "locked", distributed_lock(key = "needless_return"))]
pub fn needless_return(id: u8) -> Answer {
    return Ok(id);
}

#[expect(clippy::needless_return)]
#[cfg_attr(feature = "locked", distributed_lock(key = "needless_return"))]
pub async fn needless_return_async(id: u8) -> Answer {
    return Ok(id);
}

#[expect(clippy::items_after_statements)]
#[cfg_attr(feature = "locked", distributed_lock(key = "items_after_statements"))]
pub fn items_after_statements(id: u8) -> Answer {
    let id = id.saturating_add(1);
    const LIMIT: u8 = 3;
    Ok(id.min(LIMIT))
}

#[expect(clippy::elidable_lifetime_names)]
#[cfg_attr(feature = "locked", distributed_lock(key = "elidable_lifetime_names"))]
pub fn elidable_lifetime_names<'a>(text: &'a str) -> Answer<View<'a>> {
    Ok(View(text))
}

#[expect(clippy::needless_lifetimes)]
#[cfg_attr(feature = "locked", distributed_lock(key = "needless_lifetimes"))]
pub fn needless_lifetimes<'a>(text: &'a str) -> Answer<&'a str> {
    Ok(text)
}

#[expect(clippy::unnecessary_literal_bound)]
#[cfg_attr(feature = "locked", distributed_lock(key = "unnecessary_literal_bound", or_else = |_| ""))]
pub fn unnecessary_literal_bound(shop: &Shop) -> &str {
    let _ = shop;
    "bakery"
}

#[expect(clippy::manual_async_fn)]
#[cfg_attr(feature = "locked", distributed_lock(key = "manual_async_fn"))]
pub fn manual_async_fn(id: u8) -> impl Future<Output = Answer> {
    async move { Ok(id) }
}

#[expect(clippy::future_not_send)]
#[cfg_attr(feature = "locked", distributed_lock(key = "future_not_send"))]
pub async fn future_not_send(id: std::rc::Rc<u8>) -> Answer {
    std::future::ready(()).await;
    Ok(*id)
}

#[expect(clippy::only_used_in_recursion)]
#[cfg_attr(feature = "locked", distributed_lock(key = "only_used_in_recursion"))]
pub fn only_used_in_recursion(id: u8, other: u8) -> Answer {
    if id == 0 { Ok(0) } else { only_used_in_recursion(id.saturating_sub(1), other) }
}

#[inline(always)]
#[expect(clippy::inline_always)]
#[cfg_attr(feature = "locked", distributed_lock(key = "inline_always"))]
pub fn inline_always(id: u8) -> Answer {
    Ok(id)
}

#[expect(unconditional_recursion)]
#[cfg_attr(feature = "locked", distributed_lock(key = "unconditional_recursion"))]
pub fn unconditional(id: u8) -> Answer {
    unconditional(id)
}

#[expect(clippy::must_use_candidate)]
#[cfg_attr(feature = "locked", distributed_lock(key = "must_use_candidate", or_else = |_| 1))]
pub fn must_use_candidate(id: u8) -> u8 {
    id
}

#[expect(clippy::large_stack_frames)]
#[cfg_attr(feature = "locked", distributed_lock(key = "large_stack_frames"))]
pub fn large_stack_frames(id: usize) -> Answer {
    let all = [1_u8; 600_000];
    Ok(all[id])
}

#[expect(clippy::single_match_else)]
#[cfg_attr(feature = "locked", distributed_lock(key = "single_match_else"))]
pub async fn single_match_else(id: Option<u8>) -> Answer {
    match id {
        Some(id) => Ok(id),
        None => {
            std::future::ready(()).await;
            Ok(1)
        }
    }
}

#[expect(clippy::significant_drop_tightening)]
#[cfg_attr(feature = "locked", distributed_lock(key = "significant_drop_tightening"))]
pub fn significant_drop_tightening(stock: &std::sync::Mutex<Vec<u8>>) -> Answer<usize> {
    let stock = stock.lock().unwrap();
    let count = stock.iter().count();
    for _ in 0..count {
        std::thread::yield_now();
    }
    Ok(count)
}

impl Shop {
    #[expect(clippy::unused_self)]
    #[cfg_attr(feature = "locked", distributed_lock(key = "unused_self"))]
    fn unused_self(&self, id: u8) -> Answer {
        Ok(id)
    }

    #[expect(clippy::self_only_used_in_recursion)]
    #[cfg_attr(feature = "locked", distributed_lock(key = "self_only_used_in_recursion"))]
    fn self_only_used_in_recursion(&self, id: u8) -> Answer {
        if id == 0 { Ok(0) } else { self.self_only_used_in_recursion(id.saturating_sub(1)) }
    }

    #[expect(clippy::misnamed_getters)]
    #[cfg_attr(feature = "locked", distributed_lock(key = "misnamed_getters", or_else = |_| unreachable!()))]
    pub fn name(&self) -> &String {
        &self.owner
    }
}
