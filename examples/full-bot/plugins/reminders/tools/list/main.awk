function main() { list() }
