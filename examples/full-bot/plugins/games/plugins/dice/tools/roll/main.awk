# Takes NdS, dS or NdS+K anywhere in the text; "a die" is 1d6.
function main(   text, n, sides, plus, i, r, sum, list) {
  text = tolower(V["input.dice"])
  n = 1; sides = 6; plus = 0
  if (match(text, /[0-9]*d[0-9]+([+-][0-9]+)?/)) {
    text = substr(text, RSTART, RLENGTH)
    i = index(text, "d"); if (i > 1) n = substr(text, 1, i - 1) + 0
    text = substr(text, i + 1)
    if (match(text, /[+-]/)) { plus = substr(text, RSTART) + 0; text = substr(text, 1, RSTART - 1) }
    sides = text + 0
  } else if (match(text, /[0-9]+/)) n = substr(text, RSTART, RLENGTH) + 0
  if (n < 1 || n > 100 || sides < 2 || sides > 1000)
    json_fail("BAD_DICE", "I roll 1 to 100 dice with 2 to 1000 sides")
  for (i = 1; i <= n; i++) { r = random_to(sides); sum += r; list = list (i > 1 ? " + " : "") r }
  sum += plus
  if (plus != 0) list = list (plus > 0 ? " + " plus : " - " (-plus))
  printf "🎲 %dd%d: %s%s\n", n, sides, list, (n > 1 || plus != 0 ? " = **" sum "**" : "")
}
