//! The experiment with people, as users type it.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Subcommand;

use super::at_least_one;

/// Run an experiment with people: pictures for 200 ms and a forced choice, for tolerances
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens people prepare photos -o cars --fault gaussian_noise,frost --choices car,\"not car\"
  faultlens people serve cars --people 5
  faultlens people status cars
  faultlens tolerance cars")]
pub(crate) struct PeopleArgs {
    #[command(subcommand)]
    pub(crate) command: PeopleCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PeopleCommand {
    Prepare(PeoplePrepareArgs),
    Serve(PeopleServeArgs),
    Status(PeopleStatusArgs),
}

/// Make the pictures of a study: originals, and versions with faults spread over visual change
///
/// A choice is a class of the data set or a --group of classes. One of the two may be neither; it
/// then stands for all other classes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens people prepare photos -o cars --fault frost,brightness --choices car,\"not car\"
  faultlens people prepare cifar10.npz -o cars --fault contrast --images 200 \\
    --choices car,\"not car\" --group car=automobile,truck")]
pub(crate) struct PeoplePrepareArgs {
    /// The data set: a file, a folder, or world:signs
    pub(crate) data: String,
    /// The study directory to create; it must be new or empty
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Faults in images; every picture is shown with each of them, to different people
    #[arg(long = "fault", value_name = "NAME", required = true, value_delimiter = ',')]
    pub(crate) faults: Vec<String>,
    /// The two answers that people choose between, left and right
    #[arg(long, value_name = "LEFT,RIGHT", value_parser = choices)]
    pub(crate) choices: Pair,
    /// The classes that a choice stands for; can be given for both
    #[arg(long = "group", value_name = "CHOICE=CLASS,…", value_parser = group)]
    pub(crate) groups: Vec<Group>,
    /// How many pictures of the data set to use, half of them for each choice
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one)]
    pub(crate) images: usize,
    /// How many people should see each version of a picture
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) answers: u32,
    /// The seed of pictures, strengths and batches
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The part of the data set to use, such as test
    #[arg(long, value_name = "PART")]
    pub(crate) part: Option<String>,
    /// The column of a CSV file that holds the labels
    #[arg(long, value_name = "NAME")]
    pub(crate) label_column: Option<String>,
    /// Print one JSON object: {"study", "pictures", "easy", "faults": {NAME: {"min", "max",
    /// "tenths"}}}
    #[arg(long)]
    pub(crate) json: bool,
}

/// Serve a study to people until Ctrl-C; resumes one that has answers
///
/// Prints an invitation link, with which anybody can join, and a personal link for each of
/// --people. Every answer is on disk before it is acknowledged; no names or addresses are stored.
#[derive(Debug, clap::Args)]
pub(crate) struct PeopleServeArgs {
    /// The study
    pub(crate) study: PathBuf,
    /// Where to listen; whoever can reach it and has a link can take part
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// The port; 0 takes any free one
    #[arg(long, value_name = "N", default_value_t = 8080)]
    pub(crate) port: u16,
    /// How many personal links to print; the same ones each time
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) people: usize,
    /// Print one JSON object when it listens: {"address", "invitation", "people": [LINK]}; and one
    /// when it ends, as `status` does
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show the progress of a study, and update its tables and its run
#[derive(Debug, clap::Args)]
pub(crate) struct PeopleStatusArgs {
    /// The study
    pub(crate) study: PathBuf,
    /// Print one JSON object: {"people", "answers", "left_out", "pictures", "people_needed", …}
    #[arg(long)]
    pub(crate) json: bool,
}

/// Two answers to choose between.
#[derive(Debug, Clone)]
pub(crate) struct Pair(pub(crate) [String; 2]);

/// A choice and the classes that it is made of.
#[derive(Debug, Clone)]
pub(crate) struct Group(pub(crate) String, pub(crate) Vec<String>);

fn choices(text: &str) -> Result<Pair, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    match parts[..] {
        [left, right] if !left.is_empty() && !right.is_empty() => {
            Ok(Pair([left, right].map(str::to_owned)))
        }
        _ => {
            Err("two choices with a comma between them are needed, such as car,\"not car\"".into())
        }
    }
}

fn group(text: &str) -> Result<Group, String> {
    let wrong = || "CHOICE=CLASS,… is needed, such as car=automobile,truck".to_owned();
    let (choice, classes) = text.split_once('=').ok_or_else(wrong)?;
    let classes: Vec<String> = classes.split(',').map(|class| class.trim().to_owned()).collect();
    if choice.trim().is_empty() || classes.iter().any(String::is_empty) {
        return Err(wrong());
    }
    Ok(Group(choice.trim().to_owned(), classes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_and_groups_are_read() {
        assert_eq!(
            choices("car, not car").map(|pair| pair.0),
            Ok(["car".into(), "not car".into()])
        );
        for wrong in ["car", "a,b,c", "car,", ""] {
            assert!(choices(wrong).is_err(), "{wrong}");
        }
        let cars = group("car=automobile, truck").unwrap();
        assert_eq!((cars.0.as_str(), cars.1), ("car", vec!["automobile".into(), "truck".into()]));
        for wrong in ["car", "=truck", "car=", "car=a,,b"] {
            assert!(group(wrong).is_err(), "{wrong}");
        }
    }
}
