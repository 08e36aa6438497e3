function main() { done() }
