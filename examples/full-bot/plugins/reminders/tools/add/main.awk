function main() { add() }
