# The house is one line per thing in $UNDERSTUDY_DATA_DIR/house.txt: a name and its state.
function load(   line, at) {
  FILE = ENVIRON["UNDERSTUDY_DATA_DIR"] "/house.txt"
  STATE["hall"] = STATE["kitchen"] = STATE["bedroom"] = 0; STATE["heating"] = 19; STATE["door"] = "locked"
  while ((getline line < FILE) > 0) if ((at = index(line, " ")) > 1) STATE[substr(line, 1, at - 1)] = substr(line, at + 1)
  close(FILE)
}
# Written beside the file and renamed over it, so that a stop in between leaves the old state.
function set(name, value,   tmp, key) {
  load(); STATE[name] = value; tmp = FILE ".new"
  printf "" > tmp
  for (key in STATE) print key " " STATE[key] >> tmp
  close(tmp)
  if (system("mv -f '" tmp "' '" FILE "'") != 0) json_fail("NOT_SAVED", "the house could not be changed")
}
function lamp(room) { return "The lamp in the " room " is " (STATE[room] + 0 == 0 ? "off" : "at " STATE[room] " %") "." }
