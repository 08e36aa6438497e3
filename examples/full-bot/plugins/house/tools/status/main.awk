function main() {
  load()
  print lamp("hall") "\n" lamp("kitchen") "\n" lamp("bedroom")
  print "The heating is set to " STATE["heating"] " degrees.\nThe front door is " STATE["door"] "."
}
