// The modules of this folder that `backend` needs for its decisions; `tests/model` includes this file.

pub(crate) mod fencing_token;
pub(crate) mod record;
pub(crate) mod schedule;
