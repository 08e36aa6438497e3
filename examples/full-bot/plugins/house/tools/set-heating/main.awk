function main() { set("heating", V["input.degrees"] + 0); print "The heating is set to " STATE["heating"] " degrees." }
