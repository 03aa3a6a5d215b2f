import XCTest

@testable import Streams

final class RosterTests: XCTestCase {
  func test_membersThatLeave_areReleasedAndTheOthersKeepTheirOrder() {
    var roster = Roster<Int>()
    let ids = (0..<1000).compactMap { roster.join($0) }
    for (member, id) in ids.enumerated() where member % 3 != 0 {
      XCTAssertEqual(roster.leave(id), member)
      XCTAssertNil(roster.leave(id), "it has left")
    }
    XCTAssertEqual(roster.present.map(\.value), Array(stride(from: 0, to: 1000, by: 3)))
    XCTAssertFalse(roster.isEmpty)
    XCTAssertLessThanOrEqual(roster.members.count, 2 * roster.present.count, "the empty places have been removed")
    for (member, id) in ids.enumerated() where member % 3 == 0 { XCTAssertEqual(roster.leave(id), member) }
    XCTAssertTrue(roster.isEmpty)
    XCTAssertEqual(roster.members.count, 0)
  }

  func test_membersThatLeaveInOrder_moveTheOthersRarely() {
    var roster = Roster<Int>()
    let ids = (0..<10_000).compactMap { roster.join($0) }
    // A removal shortens a long array only when more than half of its places are empty.
    var (moves, count) = (0, roster.members.count)
    for id in ids {
      XCTAssertNotNil(roster.leave(id))
      if roster.members.count != count { moves += 1 }
      count = roster.members.count
    }
    XCTAssertLessThan(moves, 50)
  }

  func test_aMemberThatLeaves_isReleasedAtOnce() {
    final class Member {}
    var roster = Roster<Member>()
    weak var first: Member?
    let (id, other): (UInt64?, UInt64?) = {
      let member = Member()
      first = member
      return (roster.join(member), roster.join(Member()))
    }()
    XCTAssertNotNil(first)
    if let id { _ = roster.leave(id) }
    XCTAssertNil(first)
    XCTAssertEqual(roster.present.count, 1)
    XCTAssertNotNil(other)
  }

  func test_theEnd_isForTheMembersThatHaveNotLeft() {
    var roster = Roster<Int>()
    let ids = (0..<5).compactMap { roster.join($0) }
    _ = roster.leave(ids[1])
    XCTAssertEqual(roster.end(nil).map(\.value), [0, 2, 3, 4])
    XCTAssertTrue(roster.end(nil).isEmpty)
    XCTAssertNil(roster.join(9))
    XCTAssertTrue(roster.isEmpty)
  }
}
