function main() { set(V["input.room"], V["input.percent"] + 0); print lamp(V["input.room"]) }
