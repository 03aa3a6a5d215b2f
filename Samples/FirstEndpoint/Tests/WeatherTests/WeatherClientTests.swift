import Foundation
import NetLayerTesting
import StreamsTesting
import XCTest

@testable import Weather

final class WeatherClientTests: XCTestCase {
  func test_aBusyServerIsRetriedWithDelays() {
    // One unit is a millisecond. The test runs in virtual time.
    let time = TestScheduler(resolution: .milliseconds(1))
    let busy = StubTransport.StubbedResponse.json("", status: 503)
    let stub = StubTransport(
      [.init(.get, "/weather", .sequence([busy, busy, .json(#"{"name":"南京","degrees":21.5}"#)]))], on: time)
    let policy = RetryPolicy(jitter: { $0.upperBound })
    let client = WeatherClient(
      network: Network(
        Backend(
          baseURL: URL(string: "https://weather.example"), transport: stub, clock: time, mapping: time,
          interceptors: [RetryInterceptor(policy: policy)])))

    let observer = time.createObserver(City.self)
    _ = client.weather(in: "南京").asObservable().subscribe(observer)
    time.start()

    XCTAssertEqual(observer.elements, [City(name: "南京", degrees: 21.5)])
    XCTAssertEqual(time.clock, 1500)
    XCTAssertEqual(stub.requests.map { $0.url.query() }, Array(repeating: "city=%E5%8D%97%E4%BA%AC", count: 3))
  }
}
