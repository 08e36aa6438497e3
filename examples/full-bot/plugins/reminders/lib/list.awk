# The list is one line per reminder in $UNDERSTUDY_DATA_DIR/reminders.txt, one file per conversation.
function file_name(   id) {
  id = V["context.session_id"]; gsub(/[^A-Za-z0-9]/, "-", id)
  return ENVIRON["UNDERSTUDY_DATA_DIR"] "/reminders-" (id == "" ? "none" : id) ".txt"
}
function load(   line) {
  FILE = file_name(); COUNT = 0
  while ((getline line < FILE) > 0) if (line != "") ITEM[++COUNT] = line
  close(FILE)
}
# Written beside the list and renamed over it, so that a stop in between leaves the old list.
function save(   i, tmp) {
  tmp = FILE ".new"
  printf "" > tmp
  for (i = 1; i <= COUNT; i++) print ITEM[i] >> tmp
  close(tmp)
  if (system("mv -f '" tmp "' '" FILE "'") != 0) json_fail("NOT_SAVED", "the list could not be saved")
}
function show(   i) {
  if (COUNT == 0) { print "Your reminder list is empty."; return }
  for (i = 1; i <= COUNT; i++) print i ". " ITEM[i]
}
function add(   text) {
  text = V["input.text"]; gsub(/[\r\n\t]+/, " ", text)
  load(); ITEM[++COUNT] = text; save()
  print "Noted as number " COUNT ": " text
}
function list() { load(); show() }
function done(   n, i, text) {
  load(); n = V["input.number"] + 0
  if (n < 1 || n > COUNT) json_fail("NO_SUCH_REMINDER", "there is no reminder number " n "; the list has " COUNT)
  text = ITEM[n]
  for (i = n; i < COUNT; i++) ITEM[i] = ITEM[i + 1]
  COUNT--; save()
  print "Done: " text
}
function clear() { load(); COUNT = 0; save(); print "The reminder list is empty now." }
