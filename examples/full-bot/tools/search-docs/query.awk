function main() { print V["input.query"] }
