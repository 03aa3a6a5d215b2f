import PortableFoundation

/// A reader that returns each line when it arrives, without waiting for the end of the input.
struct LineReader {
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var start = 0
  private var ended = false

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// Waits for the next line and returns it without its line break; `nil` at the end of the input.
  mutating func next() -> String? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return String(decoding: buffer[start..<end], as: UTF8.self)
      }
      if ended {
        guard start < buffer.count else { return nil }
        defer { start = buffer.count }
        return String(decoding: buffer[start...], as: UTF8.self)
      }
      buffer.removeFirst(start)
      start = 0
      searched = buffer.count
      fill()
    }
  }

  private mutating func fill() {
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count > 0 {
        buffer.append(contentsOf: chunk[..<count])
        return
      }
      if count < 0 && errno == EINTR { continue }
      ended = true
      return
    }
  }
}
