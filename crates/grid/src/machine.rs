//! What times are measured on.

use std::{env, fs, thread};

/// The processor's name, cores and system; the architecture where nobody tells the name.
pub(crate) fn machine() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let told = fs::read_to_string("/proc/cpuinfo").ok();
    let processor = told.as_deref().and_then(model_name).unwrap_or(env::consts::ARCH);
    format!("{processor}, {cores} cores, {}", env::consts::OS)
}

fn model_name(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1.trim();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_found_where_it_is_told() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2.20GHz\nflags\t: fpu\n";
        assert_eq!(model_name(text), Some("Some CPU @ 2.20GHz"));
        assert_eq!(model_name("Hardware : x\n"), None);
        assert!(machine().contains(" cores, "), "{}", machine());
    }
}
