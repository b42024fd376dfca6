//! `faultlens people status`: the progress of a study.

use crate::exit;
use faultlens::human_study::{Status, StudyError, collect};

use crate::args::PeopleStatusArgs;
use crate::console::Console;
use crate::text::{self, Align};

pub(crate) fn run(args: &PeopleStatusArgs, console: &mut Console) -> anyhow::Result<u8> {
    match collect(&args.study) {
        Ok(()) => {}
        Err(StudyError::Busy(_)) => console.note(
            "the study is being served: tables are updated after every batch, the run at the end",
        )?,
        Err(error) => return Err(error.into()),
    }
    let status = Status::read(&args.study)?;
    if args.json {
        console.json(&status)?
    } else {
        show(&status, console)?
    }
    Ok(exit::OK)
}

/// What people read.
pub(crate) fn show(status: &Status, console: &mut Console) -> anyhow::Result<()> {
    let people = &status.people;
    console.line(format_args!(
        "{} joined, {} consented, {} passed the test, {} missed too many checks",
        people.joined, people.consented, people.qualified, people.careless
    ))?;
    let left_out = status.left_out.iter().map(|(why, count)| format!("{count} {why}"));
    let left_out: Vec<String> = left_out.collect();
    let besides = if left_out.is_empty() { "none".to_owned() } else { left_out.join(", ") };
    console.line(format_args!("{} answers count; left out: {besides}", status.answers))?;
    let mut rows = vec![["pictures", "done", "of", "answers"].map(str::to_owned)];
    for (group, pictures) in &status.pictures {
        let numbers = [pictures.done, pictures.all, pictures.answers];
        let [done, all, answers] = numbers.map(|number| number.to_string());
        rows.push([group.clone(), done, all, answers]);
    }
    for line in text::table([Align::Left, Align::Right, Align::Right, Align::Right], &rows) {
        console.line(line)?;
    }
    match status.people_needed {
        0 => console.line("every picture has all its answers")?,
        needed => console.line(format_args!("it takes at least {needed} more people"))?,
    }
    Ok(())
}
