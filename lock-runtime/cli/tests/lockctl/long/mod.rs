//! Tests that need a terminal: tmux, which the long form installs.

mod prompts;
mod terminal;
mod watch;
