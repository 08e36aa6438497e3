function main() { clear() }
