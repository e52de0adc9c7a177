//! The error texts of a server.

use redis::RedisError;

/// The code of an error, including errors inside scripts. Before Redis 7.0 the code follows the
/// position: `ERR Error running script (call to f_<digest>): @user_script:33: @user_script: 33:
/// -OOM …`.
pub fn code_of(error: &RedisError) -> &str {
    let detail = error.detail().unwrap_or_default();
    let in_script = detail.starts_with("Error running script");
    let text = match detail.rsplit_once(": ") {
        Some((_, text)) if in_script => text.trim_start_matches('-'),
        _ => return error.code().unwrap_or_default(),
    };
    text.split(' ').next().unwrap_or_default()
}
