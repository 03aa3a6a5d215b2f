import Foundation
import NetLayer
import NetLayerInspector

// Serves a page of the inspector for a browser that is driven by a script. Prints its URL, and ends when its input ends.
// Usage: Scenes gallery | hostile FILE | many | rate

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "gallery": try await Gallery().run()
case "hostile": try await Hostile(URL(filePath: arguments.last ?? "")).run()
case "many": try await Load.many(10_000)
case "rate": try await Load.rate()
default: throw NetworkError(kind: .other, reason: "name a scene: gallery, hostile, many or rate")
}

/// Waits for the end of the input. The sender may write a line first.
func waitForEnd() async {
  await withCheckedContinuation { continuation in
    DispatchQueue.global().async {
      while readLine() != nil {}
      continuation.resume()
    }
  }
}

/// Prints a line immediately, because the reader waits for it.
func tell(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
