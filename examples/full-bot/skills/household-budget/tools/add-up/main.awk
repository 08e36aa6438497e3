function main(   i, sum) {
  for (i = 0; i < V["input.amounts.length"]; i++) sum += V["input.amounts." i]
  printf "Total: %.2f\n", sum
}
