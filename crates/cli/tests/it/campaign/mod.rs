//! Campaigns as users run them from the command line, each time in a fresh folder.

mod categories;
mod damage;
mod events;
mod images;
mod resume;
mod shards;
mod small;
mod user;
mod verdicts;
mod wrong;
