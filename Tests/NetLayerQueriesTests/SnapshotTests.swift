import HTTPTransport
import NetLayerTesting
import Streams
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerQueries

final class SnapshotTests: XCTestCase {
  private func error(_ change: (inout NetworkError) -> Void = { _ in }) -> NetworkError {
    var error = NetworkError(kind: .status, code: 500, reason: "down")
    error.response = Response(request: Request(url: URL(filePath: "/")), status: 500)
    change(&error)
    return error
  }

  func test_errors_areEqual_ifKindCodeMessageReasonAndStatusAre() {
    XCTAssertEqual(error(), error { $0.request = Request(url: URL(filePath: "/a")) })
    let others: [(inout NetworkError) -> Void] = [
      { $0.kind = .timeout }, { $0.code = 1 }, { $0.message = "other" }, { $0.reason = "other" },
      { $0.response?.status = 503 }, { $0.response = nil },
    ]
    for change in others { XCTAssertNotEqual(error(), error(change)) }
  }

  func test_snapshots_areEqual_ifEverythingThatAScreenShowsIs() {
    let snapshot = Snapshot(value: [1], error: error())
    XCTAssertEqual(snapshot, Snapshot(value: [1], error: error()))
    let others: [(inout Snapshot<[Int]>) -> Void] = [
      { $0.value = [] }, { $0.error = nil }, { $0.isFetching = true }, { $0.isStale = true }, { $0.isEdited = true },
    ]
    for change in others {
      var other = snapshot
      change(&other)
      XCTAssertNotEqual(snapshot, other)
    }
  }

  func test_invalidationWithoutTags_invalidatesNothing_andInvalidateAllEverything() {
    let stub = StubTransport { _ in .json("[]") }
    let network = Network(Backend(baseURL: URL(string: "http://h"), transport: stub))
    let shown = Notes()
    let end = network.watch(Call<Response>.get("/a").tags(["a"])).subscribe(onNext: { shown.add("\($0.isFetching)") })
    XCTAssertTrue(holds { shown.all.last == "false" && stub.requests.count == 1 })
    network.invalidate([])
    network.invalidate(["b"])
    network.invalidateAll()
    XCTAssertTrue(holds { stub.requests.count == 2 })
    network.invalidate(["a"])
    XCTAssertTrue(holds { stub.requests.count == 3 })
    end.dispose()
  }
}
