//! What needs a terminal: that of tmux, which is there in the long form of a run.

mod prompts;
mod terminal;
mod watch;
