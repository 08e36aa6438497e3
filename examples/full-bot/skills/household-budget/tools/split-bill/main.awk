function main() { printf "Each of %d pays %.2f\n", V["input.people"], V["input.total"] / V["input.people"] }
