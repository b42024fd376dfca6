//! The commands as a user types them: what they write, print and exit with, on good input and bad.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should stop")]

mod answers;
mod book;
mod campaign;
mod commands;
mod compare;
mod domains;
mod findings;
mod folder;
mod images;
mod objects;
mod outage;
mod people;
mod pinned;
mod preserve;
mod protect;
mod quick_test;
mod retrain;
mod score;
mod serve;
mod service;
mod services;
mod survive;
mod sweep;
mod tensorfi;
mod tolerance;
mod train;
mod world_models;
