import NetLayer
import XCTest

@testable import Demo

final class ProblemTests: XCTestCase {
  func test_reasons_areShownWithoutSecrets() {
    let problem = Problem(NetworkError(kind: .other, reason: "http://h/?token=secret"))
    XCTAssertEqual(problem.text, "other -1212: http://h/?token=***")
    XCTAssertFalse(problem.json.text.contains("secret"))
  }
}
