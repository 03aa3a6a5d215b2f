import Foundation
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// Situations that the random schedules rarely reach.
final class UploadStateTests: XCTestCase {
  private typealias Action = UploadState.Action
  private let url = URL(string: "http://h/1") ?? URL(filePath: "/")

  private func file(_ size: Int64, changed: Int64 = 1) -> FileVersion {
    FileVersion(size: size, changed: changed, start: "", end: "")
  }

  private func state(
    _ method: UploadProtocol = .tus, size: Int64 = 1_000_000, limit: Int64 = .max
  ) -> UploadState {
    var state = UploadState(method, file: file(size), attempts: 8, limit: limit)
    XCTAssertEqual(state.handle(.start(nil)), [.create])
    return state
  }

  private var created: UploadState.Event { .reply(.init(status: 201, location: url)) }

  private func offset(_ offset: Int64?, _ isComplete: Bool? = nil, status: Int = 204) -> UploadState.Event {
    .reply(.init(status: status, offset: offset, isComplete: isComplete))
  }

  func test_upload_former_versionThatMayBeComplete_isNotDeleted() {
    for isEnding in [false, true] {
      var state = UploadState(.tus, file: file(5, changed: 2), attempts: 8)
      let note = UploadState.Note(url: url, file: file(5), isEnding: isEnding)
      XCTAssertEqual(state.handle(.start(note)), (isEnding ? [] : [.terminate(url)]) + [.forget, .create])
    }
  }

  func test_upload_smallerRequests_growAgain() {
    var state = state()
    _ = state.handle(created)
    XCTAssertEqual(state.handle(.lost), [.pause(failures: 1)])
    XCTAssertEqual(state.handle(.resumed), [.ask])
    XCTAssertEqual(state.handle(offset(0)), [.show(0), .send(from: 0, count: 262_144)])
    XCTAssertEqual(state.handle(offset(262_144)), [.show(262_144), .send(from: 262_144, count: 524_288)])
    XCTAssertEqual(state.handle(offset(786_432)), [.show(786_432), .send(from: 786_432, count: 213_568)])
  }

  func test_upload_serverThatConfirmsLittleOfEachRequest_endsIt() {
    for progress: Int64 in [1, 4096, 30_000] {
      var state = state(size: 64_000_000)
      var bytes: Int64 = 0
      var (event, at): (UploadState.Event, Int64) = (created, 0)
      for round in 0... {
        guard round < 100 else { return XCTFail("\(progress) bytes a request never fail") }
        let actions = state.handle(event)
        if actions.contains(.fail(.exhausted)) { break }
        guard case .send(_, let count)? = actions.last else { return XCTFail("\(actions)") }
        bytes += count
        at += progress
        event = offset(at)
      }
      XCTAssertLessThan(bytes, 70_000_000, "the first request, and seven small ones")
    }
  }

  func test_upload_serverThatConfirmsPartOfEachRequest_completes_inAtMostThreeTimesItsSize() {
    let size: Int64 = 10_000_000
    for share: Int64 in [2, 3, 5, 8] {
      var state = state(size: size)
      var bytes: Int64 = 0
      var event = created
      for round in 0... {
        guard round < 1000 else { return XCTFail("it does not end") }
        let actions = state.handle(event)
        if actions.contains(.finish) { break }
        guard case .send(let from, let count)? = actions.last else { return XCTFail("\(actions)") }
        if from + count == size { _ = state.handle(.lastChunk) }
        bytes += count
        event = offset(from + (count + share - 1) / share)
      }
      XCTAssertLessThan(bytes, 10 * size, "\(share)")
    }
  }

  func test_upload_connectionsThatCarryOnlyAFewBytes_endIt() {
    var state = state(size: 64_000_000)
    _ = state.handle(created)
    for round in 1...7 {
      XCTAssertEqual(state.handle(.lost), [.pause(failures: round)])
      XCTAssertEqual(state.handle(.resumed), [.ask])
      XCTAssertEqual(state.handle(offset(Int64(round))).first, .show(Int64(round)))
    }
    XCTAssertEqual(state.handle(.lost), [.fail(.exhausted)])
  }

  func test_upload_bytesBehindTheLastOffset_areNotCounted_asLongAsTheServerAdvances() {
    var state = state()
    _ = state.handle(created)
    XCTAssertEqual(state.handle(offset(900_000)), [.show(900_000), .send(from: 900_000, count: 100_000)])
    for round in 1...7 {
      XCTAssertEqual(state.handle(.lost), [.pause(failures: round)])
      XCTAssertEqual(state.handle(.resumed), [.ask])
      XCTAssertEqual(state.handle(offset(0)).first, .show(0))
      XCTAssertEqual(state.handle(offset(200_000)).first, .show(200_000))
    }
    XCTAssertEqual(state.handle(.lost), [.fail(.exhausted)])
  }

  func test_upload_serverThatForgets_makesNoProgress() {
    var state = state()
    for round in 1...7 {
      let saved = state.handle(created)
      // Twice what the server confirms of a request.
      let count: Int64 = round == 1 ? 1_000_000 : 786_432
      XCTAssertTrue(saved.contains(.send(from: 0, count: count)), "round \(round): \(saved)")
      XCTAssertEqual(state.handle(offset(500_000)).first, .show(500_000))
      XCTAssertEqual(state.handle(offset(nil, status: 404)), [.forget, .show(0), .pause(failures: round)])
      XCTAssertEqual(state.handle(.resumed), [.create])
    }
    _ = state.handle(created)
    _ = state.handle(offset(500_000))
    XCTAssertEqual(state.handle(offset(nil, status: 410)), [.forget, .show(0), .fail(.exhausted)])
  }

  func test_upload_creation_isNoProgress() {
    var state = state()
    for round in 1...7 {
      _ = state.handle(created)
      XCTAssertEqual(state.handle(offset(nil, status: 404)), [.forget, .show(0), .pause(failures: round)])
      _ = state.handle(.resumed)
    }
    _ = state.handle(created)
    XCTAssertEqual(state.handle(offset(nil, status: 404)).last, .fail(.exhausted))
  }

  func test_upload_successWithoutAnOffset_isAskedFor() {
    var tus = state(size: 1000)
    _ = tus.handle(created)
    XCTAssertEqual(tus.handle(offset(nil)), [.ask], "tus requires the field")
    XCTAssertEqual(tus.handle(offset(1000)), [.finish])
    var parts = state(limit: 600_000)
    _ = parts.handle(created)
    XCTAssertEqual(parts.handle(offset(nil)), [.ask])
    var draft = state(.ietf(), size: 1_000_000, limit: 600_000)
    _ = draft.handle(created)
    XCTAssertEqual(draft.handle(offset(nil, false)), [.show(600_000), .send(from: 600_000, count: 400_000)])
    _ = draft.handle(.lastChunk)
    XCTAssertEqual(draft.handle(offset(nil)), [.ask], "only Upload-Complete says that an upload is complete")
    XCTAssertEqual(draft.handle(offset(1_000_000, false)), [.show(1_000_000), .send(from: 1_000_000, count: 0)])
    _ = draft.handle(.lastChunk)
    XCTAssertEqual(draft.handle(offset(1_000_000, false)), [.pause(failures: 1)], "a server that never completes it")
  }

  func test_upload_successWithoutAnOffset_againAndAgain_ends() {
    var state = state()
    _ = state.handle(created)
    var asked = 0
    while state.handle(offset(nil)) == [.ask] {
      asked += 1
      _ = state.handle(offset(0))
    }
    XCTAssertEqual(asked, 7)
  }

  func test_upload_offsetBeyondTheFile_afterTheLastByte_isAnUnknownOutcome() {
    var state = state()
    _ = state.handle(created)
    _ = state.handle(.lastChunk)
    XCTAssertEqual(state.handle(offset(2_000_000)), [.fail(.unknownOutcome)])
  }

  func test_upload_row_17_completionBeforeTheLastByte_isAnError() {
    for size in [1_000_000, 0] as [Int64] {
      var asked = UploadState(.ietf(), file: file(size), attempts: 8)
      _ = asked.handle(.start(UploadState.Note(url: url, file: file(size))))
      let failure: [Action] = [.terminate(url), .forget, .fail(.incomplete)]
      // Nothing of an empty file is missing.
      XCTAssertEqual(asked.handle(offset(100, true)), size == 0 ? [.finish] : failure)
    }
    var sent = state(.ietf())
    _ = sent.handle(created)
    XCTAssertEqual(sent.handle(offset(100, true)), [.terminate(url), .forget, .fail(.incomplete)])
    var ending = state(.ietf())
    _ = ending.handle(created)
    _ = ending.handle(.lastChunk)
    XCTAssertEqual(ending.handle(offset(nil, true)), [.finish])
    // The target may reject the upload early.
    var rejected = state(.ietf())
    _ = rejected.handle(created)
    XCTAssertEqual(rejected.handle(offset(nil, true, status: 403)), [.forget, .fail(.response)])
  }

  func test_upload_row_19_smallestRequestThatIsTooLarge_isAnError() {
    var state = state(size: 32_000)
    _ = state.handle(created)
    XCTAssertEqual(state.handle(offset(nil, status: 413)), [.fail(.response)])
    // No request is smaller than one without bytes.
    var empty = self.state(.ietf(), size: 0)
    XCTAssertEqual(empty.handle(created).last, .send(from: 0, count: 0))
    var reply = UploadState.Reply(status: 413)
    reply.maxAppend = 0
    XCTAssertEqual(empty.handle(.reply(reply)), [.fail(.response)])
  }

  func test_upload_row_19_limitOfARejection_isUsedIfItIsSmallerThanTheRequest() {
    // The limit that the server states, and the size of the next request.
    for (stated, next) in [
      (Int64?.none, 262_144), (4_000_000, 262_144), (1_000_000, 262_144), (999_999, 999_999), (5_000, 5_000),
    ] as [(Int64?, Int64)] {
      var state = state()
      XCTAssertEqual(state.handle(created).last, .send(from: 0, count: 1_000_000))
      var reply = UploadState.Reply(status: 413)
      reply.maxAppend = stated
      XCTAssertEqual(state.handle(.reply(reply)), [.pause(failures: 1)], "\(stated ?? 0)")
      _ = state.handle(.resumed)
      XCTAssertEqual(state.handle(offset(0)).last, .send(from: 0, count: next), "\(stated ?? 0)")
    }
  }

  /// Returns the sizes of the requests until a server with this limit has accepted one.
  private func sizes(of size: Int64, limit: Int64, requestSize: Int64? = nil, cut: Bool = false) -> [Int64] {
    var state = UploadState(.tus, file: file(size), attempts: 8, size: requestSize)
    _ = state.handle(.start(nil))
    var actions = state.handle(created)
    var sizes: [Int64] = []
    while case .send(_, let count)? = actions.last {
      sizes.append(count)
      if count <= limit { break }
      guard case .pause? = state.handle(cut ? .lost : offset(nil, status: 413)).last else { break }
      _ = state.handle(.resumed)
      actions = state.handle(offset(0))
    }
    return sizes
  }

  func test_upload_row_19_requestsAfterARejectionOrACut_areMultiplesOf256KB() {
    for (size, limit, expected) in [
      (30_000_001, 20_000_000, [30_000_001, 3_670_016]), (30_000_001, 1_000_000, [30_000_001, 3_670_016, 262_144]),
      (3_000_000, 1 << 20, [3_000_000, 262_144]), (1 << 20, 300_000, [1 << 20, 262_144]),
      (30_000_001, 100_000, [30_000_001, 3_670_016, 262_144, 32_768]), (200_000, 100_000, [200_000, 25_000]),
      (1_000_000, 10_000, [1_000_000, 262_144, 32_768, 4_096]), (262_145, 262_144, [262_145, 262_144]),
    ] as [(Int64, Int64, [Int64])] {
      XCTAssertEqual(sizes(of: size, limit: limit), expected, "\(size) \(limit)")
    }
    XCTAssertEqual(sizes(of: 30_000_001, limit: 20_000_000, cut: true), [30_000_001, 3_670_016])
  }

  func test_upload_row_19_requestsHaveTheSizeOfTheCaller() {
    for (size, requestSize) in [(30_000_001, 5_000_000), (30_000_001, 262_144), (1_000_000, 999_999)]
      as [(Int64, Int64)]
    {
      for isCut in [false, true] {
        var state = UploadState(.tus, file: file(size), attempts: 8, size: requestSize)
        _ = state.handle(.start(nil))
        var (sent, place) = ([Int64](), Int64(0))
        var action = state.handle(created).last
        if isCut {
          _ = state.handle(.lost)
          _ = state.handle(.resumed)
          action = state.handle(offset(0)).last
        }
        while case .send(let from, let count)? = action, sent.count < 200 {
          XCTAssertEqual(from, place)
          sent.append(count)
          place += count
          action = state.handle(offset(place)).last
        }
        XCTAssertEqual(place, size)
        XCTAssert(sent.dropLast().allSatisfy { $0 == requestSize }, "\(requestSize) \(isCut)")
        XCTAssertLessThanOrEqual(sent.last ?? 0, requestSize)
      }
    }
    XCTAssertEqual(sizes(of: 30_000_001, limit: 1_000_000, requestSize: 5_000_000), [5_000_000, 524_288])
  }

  func test_upload_PATCHThatIsRefused_isReplacedOnce_withTus() {
    for method in [UploadProtocol.tus, .ietf()] {
      var state = state(method)
      _ = state.handle(created)
      XCTAssertFalse(state.replacesPatch)
      let refused = state.handle(offset(nil, status: 405))
      guard method == .tus else {
        XCTAssertEqual(refused, [.fail(.response)])
        continue
      }
      XCTAssertEqual(refused, [.ask])
      XCTAssertTrue(state.replacesPatch)
      XCTAssertEqual(state.handle(offset(0)), [.show(0), .send(from: 0, count: 1_000_000)])
      XCTAssertEqual(state.handle(offset(nil, status: 405)), [.fail(.response)])
    }
  }

  func test_upload_minimumOfTheServer_isKept() {
    var state = state(.ietf())
    var reply = UploadState.Reply(status: 201, location: url)
    (reply.minAppend, reply.maxAppend) = (300_000, 350_000)
    XCTAssertEqual(state.handle(.reply(reply)).last, .send(from: 0, count: 350_000))
    _ = state.handle(.lost)
    _ = state.handle(.resumed)
    XCTAssertEqual(state.handle(offset(0, false)).last, .send(from: 0, count: 300_000))
  }

  func test_upload_gatewayError_makesRequestsSmaller_andALockDoesNot() {
    for (status, count) in [(504, 262_144), (408, 262_144), (423, 1_000_000), (409, 1_000_000)] as [(Int, Int64)] {
      var state = state()
      _ = state.handle(created)
      XCTAssertEqual(state.handle(offset(nil, status: status)), [.pause(failures: 1)])
      _ = state.handle(.resumed)
      XCTAssertEqual(state.handle(offset(0)).last, .send(from: 0, count: count), "\(status)")
    }
  }

  func test_upload_temporaryStatus_isAPause_andAPermanentOneEnds() {
    for status in [408, 409, 423, 425, 429, 460, 500, 507, 501, 505, 403] {
      var state = state()
      _ = state.handle(created)
      let ends = [501, 505, 403].contains(status)
      let sent = state.handle(offset(nil, status: status))
      XCTAssertEqual(sent, [ends ? .fail(.response) : .pause(failures: 1)], "\(status)")
    }
  }

  func test_upload_endedState_ignoresEverything() {
    var state = state()
    XCTAssertEqual(state.handle(.refused), [.fail(.response)])
    for event in [created, .lost, .resumed, .unsaved, .lastChunk, .changed, .start(nil)] {
      XCTAssertEqual(state.handle(event), [])
    }
  }

  func test_upload_fileThatChanges_isDeletedAtTheServer_unlessItsLastBytesWereSent() {
    for isEnding in [false, true] {
      var state = state()
      _ = state.handle(created)
      if isEnding { XCTAssertEqual(state.handle(.lastChunk).last, .release) }
      let deletion: [Action] = isEnding ? [] : [.terminate(url)]
      XCTAssertEqual(state.handle(.changed), [.stop] + deletion + [.forget, .fail(.changedFile)])
    }
  }

  func test_upload_limitOfTheServer_isAnError_unlessTheLastBytesWereSent() {
    let lowered = UploadState.Event.reply(.init(status: 204, offset: 900_000, maxSize: 10))
    for isEnding in [false, true] {
      var state = state()
      _ = state.handle(created)
      if isEnding { _ = state.handle(.lastChunk) }
      XCTAssertEqual(state.handle(.lost), [.pause(failures: 1)])
      XCTAssertEqual(state.handle(.resumed), [.ask])
      let goesOn: [Action] = [.show(900_000), .send(from: 900_000, count: 100_000)]
      XCTAssertEqual(
        state.handle(lowered), isEnding ? goesOn : [.terminate(url), .forget, .fail(.tooLarge(limit: 10))])
    }
  }
}
