import XCTest

@testable import JSONText

final class LargeStackTests: XCTestCase {
  private struct Where: Decodable {
    let thread: pthread_t
    init(from decoder: any Decoder) { thread = pthread_self() }
  }

  private let deep = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)

  func test_workOnALargeStackThatNeedsOneStaysWhereItIs() {
    let (outer, inner) = LargeStack.run(depth: 512) { () -> (pthread_t, pthread_t) in
      (pthread_self(), LargeStack.run(depth: 511) { pthread_self() })
    }
    XCTAssertNotEqual(outer, pthread_self())
    XCTAssertEqual(outer, inner)
  }

  func test_aLargeStackThatIsUsedUpIsFollowedByAnother() throws {
    // Its option detect_stack_use_after_return places local variables outside the stack.
    if dlsym(dlopen(nil, RTLD_NOW), "__asan_init") != nil {
      throw XCTSkip("Address Sanitizer hides how much of a stack is in use")
    }
    // 30 MB, far more than any stack has.
    func use(_ count: Int) -> Int {
      withUnsafeTemporaryAllocation(byteCount: 300_000, alignment: 1) { bytes in
        bytes.initializeMemory(as: UInt8.self, repeating: 1)
        return count == 0 ? Int(bytes[0]) : LargeStack.run(depth: 512) { use(count - 1) } + Int(bytes[count])
      }
    }
    XCTAssertEqual(LargeStack.run(depth: 512) { use(100) }, 101)
  }

  func test_workIsDoneInPlaceWhereThereIsNoStackToBeHad() {
    XCTAssertEqual(LargeStack.run(depth: 100, stackSize: 1 << 60) { pthread_self() }, pthread_self())
    XCTAssertEqual(LargeStack.run(depth: 100, stackSize: 1) { pthread_self() }, pthread_self())
  }

  func test_aShallowPartOfADeepDocumentIsDecodedInPlace() throws {
    let json = try JSON(parsing: "[\(deep),1,{\"a\":[2]}]")
    for decoder: any ModelDecoder in [JSONModelDecoder.default, JSONDecoder()] {
      XCTAssertEqual(try json[1].decode(Where.self, using: decoder).thread, pthread_self())
      XCTAssertEqual(try json[2].decode(Where.self, using: decoder).thread, pthread_self())
      XCTAssertNotEqual(try json[0].decode(Where.self, using: decoder).thread, pthread_self())
    }
  }

  func test_deepValuesAreEncodedOnASmallStack() throws {
    let text = "[\(deep)]"
    let written = onSmallStack { Result { try JSONEncoder().encode(JSON(parsing: text)) } }
    XCTAssertEqual(String(decoding: try written.get(), as: UTF8.self), text)
  }
}
