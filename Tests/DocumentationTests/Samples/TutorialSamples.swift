import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import XCTest

func results(
  for texts: Observable<String>, on scheduler: any SchedulerType,
  search: @escaping @Sendable (String) -> Observable<String>
) -> Observable<String> {
  texts
    .debounce(.milliseconds(300), scheduler: scheduler)
    .distinctUntilChanged()
    .flatMapLatest(search)
}

extension ObservableType {
  func busy(for span: Duration, scheduler: any SchedulerType) -> Observable<Bool> {
    let source = asObservable().share()
    return Observable.merge(source.map { _ in true }, source.debounce(span, scheduler: scheduler).map { _ in false })
      .distinctUntilChanged()
  }
}

struct City: Decodable, Sendable, Equatable {
  var name: String
  var degrees: Double
}

struct Weather: Endpoint {
  let city: String
  var path: String { "/weather" }
  var task: HTTPTask { .parameters(["city": city]) }
}

struct WeatherClient: Sendable {
  let network: Network

  func weather(in city: String) -> Single<City> {
    network.request(Weather(city: city), as: City.self)
  }
}

final class TutorialSamples: XCTestCase {
  func test_aSearchFieldAsksAfterAPause() {
    let time = TestScheduler(resolution: .milliseconds(100))
    let texts = time.hot("-abc----d-----------|")
    let answers = results(for: texts.asObservable(), on: time) { text in
      time.cold("----x|").asObservable().map { _ in text.uppercased() }
    }

    let events = time.record(answers)
    XCTAssertEqual(events, Marbles.parse("----------C----D----|"))

    let slow = TestScheduler(resolution: .milliseconds(100))
    let typed = slow.hot("-abc----d-----------|")
    let newest = results(for: typed.asObservable(), on: slow) { text in
      slow.cold("------x|").asObservable().map { _ in text.uppercased() }
    }
    XCTAssertEqual(slow.record(newest), Marbles.parse("-----------------D--|"))
  }

  func test_anOperatorOfOnesOwn() {
    let time = TestScheduler()
    let source = time.hot("-ab-------c-----|")
    let values = ["t": true, "f": false]
    let events = time.record(source.asObservable().busy(for: .seconds(3), scheduler: time))
    XCTAssertEqual(events, Marbles.parse("-t---f----t--f--|", values))

    XCTAssertEqual(source.subscriptions, [TestSubscription(0, 16)])

    let failing = TestScheduler()
    let broken = failing.record(failing.cold("a-#").asObservable().busy(for: .seconds(3), scheduler: failing))
    XCTAssertEqual(broken, Marbles.parse("t-#", values))

    let leaving = TestScheduler()
    let endless = leaving.cold("a-b-c-")
    _ = leaving.record(disposed: 4, endless.asObservable().busy(for: .seconds(3), scheduler: leaving))
    XCTAssertEqual(endless.subscriptions, [TestSubscription(0, 4)])
  }

  func test_aFirstEndpointTriesAgain() throws {
    let weatherURL = URL(string: "https://weather.example")
    let time = TestScheduler(resolution: .milliseconds(1))
    let busy = StubTransport.StubbedResponse.json("", status: 503)
    let stub = StubTransport(
      [.init(.get, "/weather", .sequence([busy, busy, .json(#"{"name":"南京","degrees":21.5}"#)]))], on: time)
    let policy = RetryPolicy(jitter: { $0.upperBound })
    let client = WeatherClient(
      network: Network(
        Backend(
          baseURL: weatherURL, transport: stub, clock: time, mapping: time,
          interceptors: [RetryInterceptor(policy: policy)])))

    let observer = time.createObserver(City.self)
    _ = client.weather(in: "南京").asObservable().subscribe(observer)
    time.start()
    XCTAssertEqual(observer.elements, [City(name: "南京", degrees: 21.5)])
    XCTAssertEqual(time.clock, 1500)
    XCTAssertEqual(stub.requests.count, 3)
  }

  func test_virtualTime() throws {
    let time = TestScheduler()
    let source = time.cold("a--b--c|")
    let events = time.record(source.asObservable().debounce(.seconds(2), scheduler: time))
    XCTAssertEqual(events, Marbles.parse("--a--b-(c|)"))

    let other = TestScheduler()
    let endless = other.cold("abcdef")
    _ = other.record(endless.asObservable().take(2))
    XCTAssertEqual(endless.subscriptions, [TestSubscription(0, 1)])

    let clock = TestScheduler()
    let observer = clock.createObserver(Int.self)
    _ = Observable<Int>.interval(.seconds(10), scheduler: clock).subscribe(observer)
    clock.advanceBy(25)
    XCTAssertEqual(observer.elements, [0, 1])

    XCTAssertEqual(try Observable.of(1, 2, 3).toBlocking(timeout: .seconds(5)).toArray(), [1, 2, 3])
  }
}
