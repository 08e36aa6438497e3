function main(   a, f, t) {
  a = V["input.amount"] + 0; f = alias(V["input.from"]); t = alias(V["input.to"])
  table_of_units()
  if (f == "celsius" && t == "fahrenheit") { show(a, a * 9 / 5 + 32); return }
  if (f == "fahrenheit" && t == "celsius") { show(a, (a - 32) * 5 / 9); return }
  if (f == t) { show(a, a); return }
  if (KIND[f] == "" || KIND[f] != KIND[t])
    json_fail("UNITS_DIFFER", "cannot convert " V["input.from"] " to " V["input.to"])
  show(a, a * SIZE[f] / SIZE[t])
}
function show(a, b) { printf "%s %s = %s %s\n", short(a), V["input.from"], short(b), V["input.to"] }
function short(n,   s) {
  s = sprintf("%.4f", n); sub(/0+$/, "", s); sub(/\.$/, "", s)
  return s
}
function alias(u) {
  if (u == "公里") return "km"; if (u == "英里") return "miles"; if (u == "公斤") return "kg"
  if (u == "磅") return "pounds"; if (u == "摄氏度") return "celsius"; if (u == "华氏度") return "fahrenheit"
  return u
}
function unit(name, kind, size) { KIND[name] = kind; SIZE[name] = size }
function table_of_units() {
  unit("mm", "length", 0.001); unit("cm", "length", 0.01); unit("m", "length", 1); unit("km", "length", 1000)
  unit("inches", "length", 0.0254); unit("feet", "length", 0.3048); unit("yards", "length", 0.9144)
  unit("miles", "length", 1609.344); unit("g", "weight", 1); unit("kg", "weight", 1000)
  unit("ounces", "weight", 28.349523125); unit("pounds", "weight", 453.59237)
  unit("ml", "volume", 1); unit("litres", "volume", 1000); unit("gallons", "volume", 3785.411784)
}
