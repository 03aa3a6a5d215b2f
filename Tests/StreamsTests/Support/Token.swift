/// An object whose release a test checks.
final class Token: Sendable {}

/// An object that adds its number to a log when it is released.
final class Numbered: Sendable {
  let number: Int
  private let released: Log<Int>

  init(_ number: Int, _ released: Log<Int>) { (self.number, self.released) = (number, released) }

  deinit { released.add(number) }
}
