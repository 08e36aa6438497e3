mod fixture;
mod history;
mod limits;
mod loading;
mod outcomes;
mod pairs;
mod prompt;
mod words;
