import NetLayer

/// The progress of a download as one line of text.
enum ProgressBar {
  /// Returns a line that is narrower than the terminal, so that it never wraps.
  ///
  /// - Parameter columns: The width of the terminal.
  static func text(_ progress: TransferProgress, columns: Int) -> String {
    let received = Quantity.bytes(Double(progress.received))
    let rate = progress.bytesPerSecond.map { "  \(Quantity.bytes($0))/s" } ?? ""
    guard let total = progress.receiveTotal, let fraction = progress.fractionReceived else {
      return String("\(received)\(rate)".prefix(max(0, columns - 1)))
    }
    let left = progress.timeLeft.map { "  \(Quantity.time($0 / .seconds(1))) left" } ?? ""
    let percent = String(repeating: " ", count: fraction < 0.1 ? 2 : fraction < 1 ? 1 : 0) + "\(Int(fraction * 100)) %"
    let numbers = "  \(received) of \(Quantity.bytes(Double(total)))\(rate)\(left)"
    let width = columns - 1 - percent.count - 1 - numbers.count
    guard width >= 5 else { return String((percent + numbers).prefix(max(0, columns - 1))) }
    let cells = min(width, 40)
    let filled = Int(Double(cells) * fraction)
    return "\(percent) " + String(repeating: "█", count: filled) + String(repeating: "░", count: cells - filled)
      + numbers
  }
}
