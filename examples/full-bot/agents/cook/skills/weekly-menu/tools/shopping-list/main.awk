function main(   i, n) {
  n = V["input.things.length"]
  for (i = 0; i < n; i++) if (!(tolower(V["input.things." i]) in SEEN)) {
    SEEN[tolower(V["input.things." i])] = 1; print "- " V["input.things." i]
  }
}
