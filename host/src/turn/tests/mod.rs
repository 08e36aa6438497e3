mod transcript;
mod words;
