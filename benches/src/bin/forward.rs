//! Times plain forward passes of one model, ours and rten's, interleaved.
fn main() {}
