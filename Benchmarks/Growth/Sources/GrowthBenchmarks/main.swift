// The growth of the work for n things with n: the CPU time of the process over a factor of 16, from the size at which it takes a
// millisecond. Prints a table, and fails if an exponent is above the limit.
//
// Usage: GrowthBenchmarks [--only TEXT] [--limit 1.25]

import Foundation

let arguments = CommandLine.arguments

func value(_ option: String) -> String? {
  arguments.firstIndex(of: option).flatMap { arguments.indices.contains($0 + 1) ? arguments[$0 + 1] : nil }
}

func show(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

let limit = value("--limit").flatMap(Double.init) ?? 1.25
var failed: [String] = []
show("| work | n | CPU | 16 n | CPU | exponent |\n|---|---|---|---|---|---|")
for row in rows where value("--only").map(row.name.contains) ?? true {
  let growth = try await row.growth()
  show(growth.line)
  // A second look, because another program may have been in the way.
  if growth.exponent > limit {
    let again = try await row.growth()
    if again.exponent > limit { failed.append(row.name) }
    show(again.line)
  }
}
if !failed.isEmpty {
  show("grow faster than their work: \(failed.joined(separator: ", "))")
  exit(1)
}
