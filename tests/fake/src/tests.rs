//! What a comparison with a real server does not show.

mod client;
mod scripts;
