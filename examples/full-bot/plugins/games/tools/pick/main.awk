function main(   n, parts, i, kept) {
  n = split(V["input.choices"], parts, /,|、|，|;| or |还是/)
  kept = 0
  for (i = 1; i <= n; i++) { gsub(/^[ \t]+|[ \t?？.]+$/, "", parts[i]); if (parts[i] != "") CHOICE[++kept] = parts[i] }
  if (kept < 2) json_fail("TOO_FEW_CHOICES", "name at least two choices, separated by commas")
  print "I pick: " CHOICE[random_to(kept)]
}
