import Foundation

/// A marble diagram of a doc comment: lines of `label: marbles`, with notes after two spaces.
struct MarbleDiagram {
  struct Line {
    let label: String
    let marbles: String
  }

  let file: String
  let lines: [Line]

  /// Returns all diagrams in the doc comments of operators.
  static func all() throws -> [MarbleDiagram] {
    let operators = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/Streams/Operators")
    let files =
      FileManager.default.enumerator(at: operators, includingPropertiesForKeys: nil)?
      .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" } ?? []
    return try files.sorted { $0.path < $1.path }.flatMap { file in
      try diagrams(in: String(contentsOf: file, encoding: .utf8), of: file.lastPathComponent)
    }
  }

  private static func diagrams(in text: String, of file: String) -> [MarbleDiagram] {
    var found: [MarbleDiagram] = []
    var lines: [Line] = []
    for line in text.components(separatedBy: "\n") + [""] {
      if let drawn = parse(line) {
        lines.append(drawn)
      } else if !lines.isEmpty {
        found.append(MarbleDiagram(file: file, lines: lines))
        lines = []
      }
    }
    return found
  }

  private static func parse(_ line: String) -> Line? {
    guard let match = line.wholeMatch(of: #/\s*///     (.+): +([-a-zA-Z0-9()|#]+)(  .*)?/#) else { return nil }
    return Line(label: String(match.1), marbles: String(match.2))
  }
}
