# Reads one JSON text into V: path -> scalar text. Paths join keys and indexes with "." (`input.text`).
# Load it before a tool's own program: awk -f lib/json.awk -f main.awk
function json_read(text) { J = text; P = 1; json_value(""); }
function json_skip() { while (substr(J, P, 1) ~ /[ \t\r\n]/) P++ }
function json_value(path,   c, n, key, rest) {
  json_skip(); c = substr(J, P, 1)
  if (c == "{") {
    P++; json_skip()
    if (substr(J, P, 1) == "}") { P++; return }
    do {
      json_skip(); key = json_string(); json_skip(); P++
      json_value(path == "" ? key : path "." key); json_skip(); c = substr(J, P, 1); P++
    } while (c == ",")
  } else if (c == "[") {
    P++; n = 0; json_skip()
    if (substr(J, P, 1) == "]") { P++; V[path ".length"] = 0; return }
    do { json_value(path "." n); n++; json_skip(); c = substr(J, P, 1); P++ } while (c == ",")
    V[path ".length"] = n
  } else if (c == "\"") {
    V[path] = json_string()
  } else {
    rest = substr(J, P)
    match(rest, /^[^],}\t\r\n ]+/); V[path] = substr(rest, 1, RLENGTH); P += RLENGTH
  }
}
function json_string(   out, c, rest) {
  P++; out = ""
  while (P <= length(J)) {
    rest = substr(J, P, 256)
    if (match(rest, /^[^"\\]+/)) { out = out substr(rest, 1, RLENGTH); P += RLENGTH; continue }
    c = substr(J, P, 1)
    if (c == "\"") { P++; return out }
    c = substr(J, P + 1, 1); P += 2
    if (c == "n") out = out "\n"
    else if (c == "t") out = out "\t"
    else if (c == "r") out = out "\r"
    else if (c == "b" || c == "f") out = out " "
    else if (c == "u") { out = out json_escape(substr(J, P, 4)); P += 4 }
    else out = out c
  }
  return out
}
# Escapes only name control characters here: the host sends all other characters as they are.
function json_escape(hex) { return " " }
function json_quote(s) {
  gsub(/\\/, "\\\\", s); gsub(/"/, "\\\"", s); gsub(/\n/, "\\n", s); gsub(/\t/, "\\t", s); gsub(/\r/, "\\r", s)
  return "\"" s "\""
}
# Ends the tool with an error result.
function json_fail(code, message) {
  printf "{\"is_error\":true,\"error\":{\"code\":%s,\"message\":%s}}\n", json_quote(code), json_quote(message)
  exit 0
}
# A random whole number from 1 to n.
function random_to(n,   r, line) {
  if ((RANDOM_CMD == "")) RANDOM_CMD = "od -An -N4 -tu4 /dev/urandom"
  RANDOM_CMD | getline line; close(RANDOM_CMD)
  r = line + 0
  return r % n + 1
}
{ ALL = ALL (NR > 1 ? "\n" : "") $0 }
END { json_read(ALL); main() }
