function main() { print (random_to(2) == 1 ? "Heads." : "Tails.") }
