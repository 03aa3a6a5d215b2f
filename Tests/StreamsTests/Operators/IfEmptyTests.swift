import Streams
import StreamsTesting
import XCTest

final class IfEmptyTests: OperatorTestCase {
  func test_ifEmpty() {
    check("--|", "--(x|)", until: 2) { source, _ in source.ifEmpty(default: "x") }
    check("a-|", "a-|", until: 2) { source, _ in source.ifEmpty(default: "x") }
    check("--|", "---y|", until: 2) { source, time in source.ifEmpty(switchTo: time.cold("-y|").asObservable()) }
    check("--#", "--#", until: 2) { source, _ in source.ifEmpty(default: "x") }
  }
}
