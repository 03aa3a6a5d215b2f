import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerOffline
@testable import NetLayerQueries

/// The requests and pauses of an upload, without a connection and in virtual time.
final class UploadRequestTests: UploadTestCase {
  private let scheduler = TestScheduler(resolution: .milliseconds(1))
  private let sent = Box<[Request]>([])

  private func stubbed(
    _ change: @escaping (inout Backend) -> Void = { _ in }, by respond: @escaping @Sendable (Request, Int) -> Response
  ) -> Network {
    let sent = sent
    let transport = StubTransport(on: scheduler) { request in
      let count = sent.update { sent -> Int in
        sent.append(request)
        return sent.count
      }
      let response = respond(request, count)
      return .response(status: response.status, headers: response.headers)
    }
    var backend = Backend(
      baseURL: URL(string: "http://h"), transport: transport, clock: scheduler, mapping: scheduler)
    change(&backend)
    return Network(backend)
  }

  /// Creates an upload, then responds with `next` to all requests.
  private func created(_ next: @escaping @Sendable (Request) -> Response) -> @Sendable (Request, Int) -> Response {
    { request, _ in
      request.method == .post
        ? Response(request: request, status: 201, headers: ["Location": "/uploads/1"]) : next(request)
    }
  }

  private var methodsSent: [String] { sent.value.map { "\($0.method)" } }

  func test_upload_requestedPause_isKept_upToAMinute() throws {
    for (requested, pause) in [("7", 7), ("600", 60)] {
      sent.value = []
      try removeNotes()
      try write(10)
      let busy = stubbed(by: created { Response(request: $0, status: 503, headers: ["Retry-After": requested]) })
      let subscription = busy.transfer(film, to: .post("/files"), by: .tus, retry: policy)
        .subscribe(onError: { _ in })
      scheduler.advanceBy(0)
      XCTAssertEqual(methodsSent, ["POST", "PATCH"])
      scheduler.advanceBy(pause * 1000 - 1)
      XCTAssertEqual(methodsSent, ["POST", "PATCH"])
      scheduler.advanceBy(1)
      XCTAssertEqual(methodsSent, ["POST", "PATCH", "HEAD"])
      subscription.dispose()
    }
  }

  func test_upload_pauses_growAsThePolicySays() throws {
    try write(10)
    let policy = RetryPolicy(attempts: 4, initialDelay: .seconds(1), jitter: { $0.upperBound })
    let error = Box<NetworkError?>(nil)
    let subscription = stubbed { request, _ in Response(request: request, status: 503) }
      .transfer(film, to: .post("/files"), by: .tus, retry: policy)
      .subscribe(onError: { error.value = $0 as? NetworkError })
    for (time, count) in [(0, 1), (999, 1), (1, 2), (1999, 2), (1, 3), (3999, 3), (1, 4)] {
      scheduler.advanceBy(time)
      XCTAssertEqual(sent.value.count, count)
    }
    XCTAssertEqual(error.value?.kind, .connection)
    XCTAssertEqual((error.value?.underlying as? NetworkError)?.status, 503)
    subscription.dispose()
  }

  func test_upload_policyThatRejectsAnError_endsWithIt() throws {
    try write(10)
    let policy = RetryPolicy(attempts: 4, shouldRetry: { ($0 as? NetworkError)?.status != 503 })
    let error = Box<NetworkError?>(nil)
    let subscription = stubbed { request, _ in Response(request: request, status: 503) }
      .transfer(film, to: .post("/files"), by: .tus, retry: policy)
      .subscribe(onError: { error.value = $0 as? NetworkError })
    scheduler.advanceBy(0)
    XCTAssertEqual(error.value?.status, 503)
    XCTAssertEqual(sent.value.count, 1)
    subscription.dispose()
  }

  func test_upload_timeDependsOnTheSize_soThatNoTotalLimitApplies() throws {
    try write(10)
    let call = Call(.post, "/files").timeouts(idle: .seconds(3), attempt: .seconds(4))
    let subscription = stubbed(
      { $0.timeouts.call = .seconds(5) }, by: created { Response(request: $0, status: 423) }
    )
    .transfer(film, to: call, by: .tus, retry: policy)
    .subscribe(onError: { _ in })
    scheduler.advanceBy(0)
    XCTAssertEqual(sent.value.prefix(3).map(\.timeouts.attempt), [.seconds(4), nil, .seconds(4)])
    XCTAssertEqual(sent.value.prefix(3).map(\.timeouts.idle), [.seconds(3), .seconds(3), .seconds(3)])
    XCTAssertEqual(sent.value.prefix(3).map(\.timeouts.call), [nil, nil, nil])
    subscription.dispose()
  }

  func test_upload_endpointWithContent_isAnError_andAQueryIsNot() throws {
    try write(10)
    let network = stubbed { request, _ in Response(request: request, status: 403) }
    func kind(_ call: Call<Response>) -> NetworkError.Kind? {
      let error = Box<NetworkError?>(nil)
      let subscription = network.transfer(film, to: call, by: .tus, retry: policy)
        .subscribe(onError: { error.value = $0 as? NetworkError })
      scheduler.advanceBy(0)
      subscription.dispose()
      return error.value?.kind
    }
    XCTAssertEqual(kind(.post("/files", parameters: ["a": 1])), .invalidRequest)
    XCTAssertEqual(kind(.post("/files", json: ["a": 1])), .invalidRequest)
    XCTAssertEqual(sent.value.count, 0)
    XCTAssertEqual(kind(.post("/files").query(["a": 1])), .status)
    XCTAssertEqual(sent.value.last?.url.absoluteString, "http://h/files?a=1")
  }

  func test_upload_missingFile_orFolder_isAnError() throws {
    let network = stubbed { request, _ in Response(request: request, status: 403) }
    for file in [film, folder, try XCTUnwrap(URL(string: "http://h/film"))] {
      let error = Box<NetworkError?>(nil)
      _ = network.transfer(file, to: .post("/files"), by: .tus).subscribe(
        onError: { error.value = $0 as? NetworkError })
      XCTAssertEqual(error.value?.kind, .invalidRequest, "\(file)")
    }
    XCTAssertEqual(sent.value.count, 0)
  }

  func test_upload_longName_getsANoteOfAtMost255Bytes() throws {
    let long = String(repeating: "长", count: 84) + ".x"
    let first = UploadNoteFile.url(for: folder.appending(path: long), in: nil, identity: "a").lastPathComponent
    let second = UploadNoteFile.url(for: folder.appending(path: long + "y"), in: nil, identity: "a").lastPathComponent
    XCTAssertLessThanOrEqual(first.utf8.count, 255)
    XCTAssertNotEqual(first, second)
    XCTAssertTrue(first.hasSuffix(".upload"))
    XCTAssertEqual(
      UploadNoteFile.url(for: film, in: URL(filePath: "/notes"), identity: "a").path,
      "/notes/film.mp4-ca978112ca1bbdcafac231b39a23dc4d.upload")
  }

  func test_upload_draftNamesTheFileInASCIIAndUTF8() {
    XCTAssertEqual(
      UploadProtocol.ietf().creation(of: "海 \"1\".mov", size: 5)["Content-Disposition"],
      "inline; filename=\"_ _1_.mov\"; filename*=UTF-8''%E6%B5%B7%20%221%22.mov")
    XCTAssertEqual(UploadProtocol.ietf(version: 6).creation(of: "a", size: 5)["Upload-Draft-Interop-Version"], "6")
    XCTAssertEqual(UploadProtocol.ietf(version: 8), .ietf())
  }

  func test_upload_versionOfAnotherDraft_isAnError_andNothingIsSent() async throws {
    try write(10)
    let server = try UploadServer(.ietf())
    for version in [Int.min, 5, 9] {
      let result = await upload(server, .ietf(version: version))
      guard case .failure(let error) = result else { return XCTFail("version \(version)") }
      XCTAssertEqual(error.kind, .invalidRequest)
      XCTAssertEqual(
        error.reason, "UploadProtocol.ietf(version: \(version)) is not supported: the version must be 6, 7 or 8")
      let cancelled = network(server).cancelUpload(of: film, to: .post("/files"), by: .ietf(version: version))
      do {
        try await cancelled.value
        XCTFail("version \(version)")
      } catch {
        XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest)
      }
    }
    XCTAssertEqual(server.log, [])
    XCTAssertEqual(notes, [])
    for version in 6...8 {
      let result = await upload(server, .ietf(version: version))
      XCTAssertNil(result.kind, "version \(version)")
    }
  }

  func test_upload_limits_areReadStrictly() {
    for (text, size) in [
      ("max-size=5", 5), ("new, max-size=5;a=b, max-age=7", 5), ("max-size=5.0", nil), ("max-size=?1", nil),
      ("max-size", nil), ("max-size=-1", nil), ("max-size=5, max-append-size=x", nil), ("max-size=5, max-age=x", 5),
      ("Max-Size=5", nil), ("", nil),
      ("max-size=9999999999999999", nil), ("max-size=1, max-size=2", 2), (",,max-size=3", 3),
    ] as [(String, Int64?)] {
      XCTAssertEqual(UploadProtocol.limits(text)["max-size"], size, text)
    }
  }

  func test_upload_onlyTheDraftOfTheIETF_marksTheLastBytes() {
    for isLast in [false, true] {
      XCTAssertNil(UploadProtocol.tus.append(from: 1, isLast: isLast)["Upload-Complete"])
      XCTAssertEqual(UploadProtocol.ietf().append(from: 1, isLast: isLast)["Upload-Complete"], isLast ? "?1" : "?0")
    }
  }

  /// An interceptor that says which origin has redirected the creation.
  private struct Redirected: Interceptor {
    let origin: String
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      next(request).map { response in
        var response = response
        if let url = URL(string: origin), request.method == .post {
          response.redirects = [.init(url: url, status: 303)]
        }
        return response
      }
    }
  }

  func test_upload_row_29_locationThatAnotherOriginHasChosen_getsNoCredentials() throws {
    for (origin, place, isRefused) in [
      ("http://h/", "/uploads/1", false), ("http://other/", "/uploads/1", true),
      ("http://other/", "http://other/uploads/1", false),
    ] {
      sent.value = []
      try removeNotes()
      try write(10)
      let network = stubbed {
        $0.interceptors = [Redirected(origin: origin)]
      } by: { request, _ in
        Response(
          request: request, status: request.method == .post ? 201 : 204,
          headers: ["Location": place, "Upload-Offset": "10"])
      }
      let error = Box<NetworkError?>(nil)
      let upload = network.transfer(film, to: .post("/files"), by: .tus, retry: policy)
        .subscribe(onError: { error.value = $0 as? NetworkError })
      scheduler.advanceBy(0)
      XCTAssertEqual(methodsSent, isRefused ? ["POST"] : ["POST", "PATCH"], "\(origin), \(place)")
      XCTAssertEqual(error.value?.reason.contains("another origin has chosen"), isRefused ? true : nil)
      upload.dispose()
    }
  }

  func test_upload_invalidatesTheTagsOfItsEndpoint_whenItEnds() throws {
    try write(0)
    let network = stubbed { request, _ in
      Response(request: request, status: request.method == .get ? 200 : 201, headers: ["Location": "/uploads/1"])
    }
    let watching = network.watch(Call(.get, "/films").tags(["films"])).subscribe()
    scheduler.advanceBy(0)
    XCTAssertEqual(methodsSent, ["GET"])
    let upload = network.transfer(film, to: Call(.post, "/files").invalidates(["films"]), by: .tus).subscribe()
    scheduler.advanceBy(0)
    XCTAssertEqual(methodsSent, ["GET", "POST", "GET"])
    watching.dispose()
    upload.dispose()
  }

  func test_upload_unknownOutcome_invalidatesTheTagsOfItsEndpoint() throws {
    try write(0)
    let network = stubbed { request, _ in
      switch request.method {
      case .get: Response(request: request, status: 200)
      case .post: Response(request: request, status: 201, headers: ["Location": "/uploads/1"])
      case .head: Response(request: request, status: 404)
      default: Response(request: request, status: 503)
      }
    }
    let watching = network.watch(Call(.get, "/films").tags(["films"])).subscribe()
    scheduler.advanceBy(0)
    let error = Box<NetworkError?>(nil)
    let upload = network.transfer(
      film, to: Call(.post, "/files").invalidates(["films"]), by: .ietf(), retry: policy
    ).subscribe(onError: { error.value = $0 as? NetworkError })
    scheduler.advanceBy(0)
    XCTAssertEqual(error.value?.kind, .unknownOutcome)
    XCTAssertEqual(methodsSent, ["GET", "POST", "PATCH", "HEAD", "GET"])
    watching.dispose()
    upload.dispose()
  }

  /// An endpoint whose subscription ends while it reads the response.
  private struct Disposing: Endpoint {
    let work: SingleAssignmentDisposable
    var path: String { "/files" }
    var method: HTTPMethod { .post }

    func read(_ response: Response) throws -> Response {
      work.dispose()
      return response
    }
  }

  func test_upload_resultThatNobodyHasReceived_keepsItsNote_andIsDeliveredAgain() throws {
    try write(0)
    let network = stubbed { request, _ in
      Response(request: request, status: 201, headers: ["Location": "/uploads/1"])
    }
    let results = Counter()
    let work = SingleAssignmentDisposable()
    work.setDisposable(
      network.transfer(film, to: Disposing(work: work), by: .tus).subscribe(
        onNext: { if $0.result != nil { results.next() } }))
    scheduler.advanceBy(0)
    XCTAssertEqual(results.value, 0)
    XCTAssertEqual(notes.count, 1)
    let again = network.transfer(film, to: .post("/files"), by: .tus).subscribe(
      onNext: { if $0.result != nil { results.next() } })
    scheduler.advanceBy(0)
    XCTAssertEqual(results.value, 1)
    XCTAssertEqual(methodsSent, ["POST"], "the stored result")
    XCTAssertEqual(notes, [])
    again.dispose()
  }

  func test_upload_descriptors_areClosed() throws {
    try write(10)
    let place = UploadNoteFile.url(for: film, in: nil, identity: "a")
    let note = UploadState.Note(url: try XCTUnwrap(URL(string: "http://h/1")), file: try UploadFile(film).version)
    let film = film
    let steps: [(String, () throws -> Void)] = [
      ("file", { _ = try UploadFile(film) }), ("note", { try UploadNoteFile(place).save(note) }),
      (
        "busy",
        {
          let first = try UploadNoteFile(place)
          XCTAssertThrowsError(try UploadNoteFile(place))
          withExtendedLifetime(first) {}
        }
      ),
      ("forgotten", { try UploadNoteFile(place).end() }),
    ]
    for (name, step) in steps { XCTAssertTrue(try closesDescriptors { _ in try step() }, name) }
  }

  func test_upload_registry_hasOnlyRunningUploads() throws {
    try write(10)
    let network = stubbed(by: created { Response(request: $0, status: 503, headers: ["Retry-After": "7"]) })
    let subscription = network.transfer(film, to: .post("/files"), by: .tus, retry: policy).subscribe(onError: { _ in })
    scheduler.advanceBy(0)
    let path = note.path
    XCTAssertNotNil(UploadRegistry.shared[path])
    subscription.dispose()
    XCTAssertNil(UploadRegistry.shared[path])
    // One that ends by itself.
    try removeNotes()
    let once = RetryPolicy(attempts: 1)
    let ending = network.transfer(film, to: .post("/files"), by: .tus, retry: once).subscribe(onError: { _ in })
    scheduler.advanceBy(0)
    XCTAssertNil(UploadRegistry.shared[path])
    ending.dispose()
  }
}
