import Foundation

var only: Set<String>?
var file: String?
var rounds = 7
var ours = false
let usage = "options: --only a,b  --json FILE  --rounds N  --ours (without peers and loops, for profilers)"
var arguments = Array(CommandLine.arguments.dropFirst())
while !arguments.isEmpty {
  let option = arguments.removeFirst()
  if option == "--ours" {
    ours = true
    continue
  }
  guard !arguments.isEmpty else {
    print("\(option) requires a value; \(usage)")
    exit(2)
  }
  let value = arguments.removeFirst()
  switch option {
  case "--only": only = Set(value.split(separator: ",").map(String.init))
  case "--json": file = value
  case "--rounds": rounds = max(1, Int(value) ?? rounds)
  default:
    print("unknown option \(option); \(usage)")
    exit(2)
  }
}

let rows = makeLoopRows() + makeAppRows() + makeRxSwiftRows()
let chosen = rows.filter { only?.contains($0.name) ?? true }
guard !chosen.isEmpty else {
  print("unknown row; use \(rows.map(\.name).joined(separator: ", "))")
  exit(2)
}
print(Measurement.header)
var results: [[String: Any]] = []
for var row in chosen {
  if ours {
    row.openCombine = nil
    row.loop = nil
  }
  let measurement = Measurement(row, rounds: rounds)
  print(measurement.line)
  results.append(measurement.json)
}
if let file {
  let data = try JSONSerialization.data(withJSONObject: ["rows": results], options: [.prettyPrinted, .sortedKeys])
  try data.write(to: URL(fileURLWithPath: file))
}
