function main() { set("door", "open"); print "The front door is open." }
