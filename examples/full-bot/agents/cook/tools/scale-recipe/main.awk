function main(   g) {
  g = V["input.grams"] * V["input.people"] / V["input.serves"]
  printf "%.0f g for %d.\n", g, V["input.people"]
}
