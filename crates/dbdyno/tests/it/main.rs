//! dbdyno from the outside: each test runs the tool as its users do, and reads what they see.
//!
//! Not here: anything that a room can be asked for by itself.

mod arm;
mod bad_input;
mod browser;
mod builds;
mod compare;
mod devtools;
mod disturbances;
mod events;
mod examples;
mod experiments;
mod figures;
mod files;
mod findings;
mod generator;
mod history;
mod home;
mod http;
mod interrupted;
mod journey;
mod loads;
mod metrics;
mod network;
mod newcomer;
mod nodes;
mod outage;
mod password;
mod processes;
mod proxies;
mod real;
mod repeatable;
mod repeats;
mod report;
mod runs;
mod seek;
mod selfcheck;
mod settings;
mod settling;
mod show;
mod standard;
mod stored;
mod terminal;
mod waiting;
mod web;
mod why;
