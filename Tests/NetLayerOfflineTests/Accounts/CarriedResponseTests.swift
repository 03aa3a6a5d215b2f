import Foundation
import HTTPTransport
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline
@testable import NetLayerQueries

/// Responses of another user, from caches and shared requests, while a call waits.
final class CarriedResponseTests: CarriedAccountTestCase {
  func test_retriedCall_receivesNoSharedOrStoredResponse_ofTheNextUser_inAnyOrder() {
    for number in 0..<2 {
      for order in 0..<7 {
        let retry = RetryInterceptor()
        let login = logins()[number]
        login.waits()
        let coalescing = CoalescingInterceptor(window: .seconds(5))
        let cache = CacheInterceptor(ResponseCache(storingIn: nil, clock: clock))
        let orders: [[any Interceptor]] = [
          [retry, coalescing, login.source], [retry, login.source, coalescing], [retry, cache, login.source],
          [retry, login.source, cache], [coalescing, retry, login.source], [cache, retry, login.source],
          [retry, login.source],
        ]
        let stub = server()
        let network = network(stub, orders[order])
        let ann = result(network)
        clock.advanceBy(50)
        login.signIn("bob")
        let bob = result(network)
        clock.advanceBy(5000)
        XCTAssertEqual(ann.value, "authentication", "order \(order), login \(number)")
        XCTAssertEqual(bob.value, "bob 1", "order \(order), login \(number)")
        XCTAssertEqual(users(stub), ["ann 1", "bob 1"], "order \(order), login \(number)")
      }
    }
  }

  func test_callOfAUserWhoHasSignedOut_receivesNoStoredResponse_notEvenItsOwn() {
    for number in 0..<2 {
      for order in 0..<2 {
        let login = logins()[number]
        login.waits()
        let store: any Interceptor =
          order == 0
          ? CoalescingInterceptor(window: .milliseconds(800))
          : CacheInterceptor(ResponseCache(storingIn: nil, clock: clock))
        let network = network(server(), [RetryInterceptor(), store, login.source])
        let first = result(network)
        clock.advanceBy(850)
        let second = result(network)
        clock.advanceBy(50)
        XCTAssertEqual(second.value, "ann 1")
        login.signIn("bob")
        clock.advanceBy(5000)
        XCTAssertEqual(first.value, "authentication", "login \(number), order \(order)")
      }
    }
  }

  func test_storedResponse_standsInForNoError_ofAUserWhoHasSignedOut() {
    for number in 0..<2 {
      for isError in [false, true] {
        let login = logins()[number]
        login.waits()
        let isDown = Flag()
        let stub = StubTransport(on: clock) { request in
          guard isDown.isRaised else { return .response(body: Data((request.headers["X-User"] ?? "-").utf8)) }
          return isError ? .failure(.connection, after: .seconds(1)) : .response(status: 503, after: .seconds(1))
        }
        let cache = CacheInterceptor(ResponseCache(storingIn: nil, clock: clock), policy: .networkElseCache)
        let network = network(stub, [cache, login.source])
        let first = result(network)
        clock.advanceBy(50)
        isDown.raise()
        let second = result(network)
        clock.advanceBy(2000)
        XCTAssertEqual([first.value, second.value], ["ann 1", "ann 1"])
        let third = result(network)
        clock.advanceBy(50)
        login.signIn("bob")
        clock.advanceBy(2000)
        XCTAssertEqual(third.value, "authentication")
      }
    }
  }

  func test_userWhoIsAnotherOneForAnInstant_givesACallNothingOfTheOther() {
    for first in 2...12 {
      for count in 1...8 {
        for order in 0..<2 {
          let source = Flickering(first..<first + count)
          let store: any Interceptor =
            order == 0
            ? CoalescingInterceptor(window: .seconds(60))
            : CacheInterceptor(ResponseCache(storingIn: nil, clock: clock))
          let stub = StubTransport(on: clock) { request in
            .response(headers: ["Cache-Control": "max-age=600"], body: Data((request.headers["X-User"] ?? "-").utf8))
          }
          let network = network(stub, [store, source])
          source.looks.value = -1_000
          let bob = result(network)
          clock.advanceBy(100)
          XCTAssertEqual(bob.value, "bob")
          source.looks.value = 0
          let ann = result(network)
          clock.advanceBy(100)
          XCTAssertTrue(
            ["ann", "authentication"].contains(ann.value), "\(ann.value ?? "nothing") at \(first), \(count), \(order)")
        }
      }
    }
  }

  func test_query_showsNothingOfAUserWhoWasSignedInForAnInstant() {
    for first in 1...12 {
      for count in 1...8 {
        let source = Flickering(first..<first + count)
        let stub = StubTransport(on: clock) { request in
          .json(#"{"user":"\#(request.headers["X-User"] ?? "-")"}"#, after: .milliseconds(10))
        }
        let shown = Notes()
        let bag = DisposeBag()
        network(stub, [source]).watch(Call<Response>.get("/me").as(JSON.self)).subscribe(onNext: { snapshot in
          if source.isBack, let user = snapshot.value?["user"].string { shown.add(user) }
        }).disposed(by: bag)
        clock.advanceBy(1000)
        XCTAssertEqual(shown.all.filter { $0 == "bob" }, [], "looks \(first) to \(first + count - 1)")
      }
    }
  }

  func test_pagesAndResultsOfWrites_showNothingOfAUserWhoWasSignedInForAnInstant() {
    for isWrite in [false, true] {
      for first in 1...14 {
        for count in 1...8 {
          let source = Flickering(first..<first + count)
          let stub = StubTransport(on: clock) { request in
            let who = request.headers["X-User"] ?? "-"
            // The results of writes are texts.
            return .json(isWrite ? who : #"["\#(who)"]"#, after: .milliseconds(10))
          }
          let network = network(stub, [source])
          let shown = Notes()
          let bag = DisposeBag()
          if isWrite {
            let feed = Call<Response>.get("/me").as(String.self)
            source.looks.value = first + count + 1
            network.watch(feed).subscribe(onNext: { snapshot in
              if source.isBack, let user = snapshot.value { shown.add(user) }
            }).disposed(by: bag)
            clock.advanceBy(100)
            XCTAssertEqual(shown.all.last, "ann")
            source.looks.value = 0
            network.request(Call<Response>.post("/write").as(String.self), updating: feed).subscribe(onError: { _ in })
              .disposed(by: bag)
          } else {
            network.watchPages(.get("/me"), of: String.self, loadingMoreOn: Observable<Void>.never()).subscribe(
              onNext: { snapshot in
                if source.isBack { for user in (snapshot.value ?? []).flatMap(\.items) { shown.add(user) } }
              }
            ).disposed(by: bag)
          }
          clock.advanceBy(1000)
          XCTAssertEqual(
            shown.all.filter { $0 == "bob" }, [], "write \(isWrite), looks \(first) to \(first + count - 1)")
        }
      }
    }
  }

  /// Signs another user in when the second page has arrived, by way of an unknown user, which is not a change.
  private struct SigningIn: Interceptor {
    let login: OwnLogin
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      next(request).do(onNext: { [login] response in
        guard response.url.path == "/2" else { return }
        login.set(.unknown)
        login.set(.user("bob"))
      })
    }
  }

  func test_furtherPage_isNotShownToAUserWhoSignsInAfterItHasArrived() {
    let login = OwnLogin(.user("ann"), for: home)
    let stub = StubTransport(on: clock) { request in
      let link = request.url.path == "/1" ? "<http://h/2>; rel=next" : ""
      let item = "\(request.headers["X-User"] ?? "-") \(request.url.path)"
      return .response(
        headers: ["Content-Type": "application/json", "Link": link], body: Data(#"["\#(item)"]"#.utf8))
    }
    let shown = Notes()
    let more = PublishSubject<Void>()
    let watching = network(stub, [SigningIn(login: login), login])
      .watchPages(.get("/1"), of: String.self, loadingMoreOn: more).subscribe(onNext: { snapshot in
        shown.add((snapshot.value ?? []).flatMap(\.items).joined(separator: ", "))
      })
    clock.advanceBy(100)
    XCTAssertEqual(shown.all.last, "ann 1 /1")
    more.onNext(())
    clock.advanceBy(100)
    watching.dispose()
    XCTAssertTrue(stub.requests.contains { $0.url.path == "/2" })
    XCTAssertFalse(shown.all.contains { $0.contains("/2") }, "\(shown.all)")
  }

  func test_cacheOfAnAppThatForgetsUsers_givesNobodyTheResponseOfAnother() {
    for number in 0..<2 {
      let login = logins()[number]
      login.waits()
      let network = network(server(), [RetryInterceptor(), ForgetfulCache(), login.source])
      let ann = result(network)
      clock.advanceBy(50)
      login.signIn("bob")
      let bob = result(network)
      clock.advanceBy(5000)
      XCTAssertEqual([ann.value, bob.value], ["authentication", "bob 1"])
      login.signIn("ann")
      let again = result(network)
      clock.advanceBy(5000)
      XCTAssertEqual(again.value, "authentication", "a stored response of bob")
      // Of nobody, everybody may have a response.
      let call = Call<Response>.get("/news")
      login.signIn(nil)
      let nobody = result(network, call)
      clock.advanceBy(5000)
      login.signIn("ann")
      let news = result(network, call)
      clock.advanceBy(5000)
      XCTAssertEqual([nobody.value, news.value], ["-", "-"])
    }
  }

  func test_cacheBehindWhichAnAppForgetsUsers_storesNoResponseOfAnother() {
    for number in 0..<2 {
      for isBefore in [false, true] {
        let login = logins()[number]
        login.waits()
        let cache = CacheInterceptor(ResponseCache(storingIn: nil, clock: clock))
        let network = network(
          server(busyFor: "none"),
          isBefore ? [login.source, cache, ForgetfulCache()] : [cache, ForgetfulCache(), login.source])
        let ann = result(network)
        clock.advanceBy(50)
        login.signIn("bob")
        let bob = result(network)
        clock.advanceBy(1000)
        let again = result(network)
        clock.advanceBy(1000)
        XCTAssertEqual([ann.value, bob.value, again.value], ["ann 1", "authentication", "authentication"])
      }
    }
  }

  func test_cacheOfAnApp_makesItsKeyOfTheAccount_andIsRefusedAfterASignOut() throws {
    final class OwnCache: Interceptor {
      let stored = Box<[String: Response]>([:])
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        .deferred { [stored] in
          let key = "\(try next.account(of: request) ?? "") \(request.url)"
          if let response = stored.value[key] { return .just(response) }
          return next(request).do(onNext: { response in
            if response.status == 200 { stored.update { $0[key] = response } }
          })
        }
      }
    }
    for number in 0..<2 {
      let login = logins()[number]
      login.waits()
      let cache = OwnCache()
      let stub = server()
      let network = network(stub, [RetryInterceptor(), cache, login.source])
      let first = result(network)
      clock.advanceBy(50)
      let second = result(network)
      clock.advanceBy(50)
      login.signIn("bob")
      let bob = result(network)
      clock.advanceBy(5000)
      XCTAssertEqual([first.value, second.value, bob.value], ["authentication", "ann 1", "bob 1"])
      login.signIn("ann")
      let again = result(network)
      clock.advanceBy(5000)
      XCTAssertEqual(again.value, "ann 1")
      XCTAssertEqual(users(stub), ["ann 1", "ann 1", "bob 1"])
      XCTAssertFalse(cache.stored.value.keys.contains { $0.contains("ann") || $0.contains("bob") }, "digests")
      XCTAssertEqual(Set(cache.stored.value.keys.map { $0.prefix(64).count }), [64])
    }
  }

  func test_userWhoChangesAtAnyLookOfACall_givesItNothingOfTheOther() {
    for at in 1...12 {
      for order in 0..<2 {
        let source = Switching(home, at: at)
        let store: any Interceptor =
          order == 0
          ? CoalescingInterceptor(window: .seconds(60)) : CacheInterceptor(ResponseCache(storingIn: nil, clock: clock))
        let stub = server(busyFor: "none")
        let network = network(stub, [store, source])
        // Bob's response is stored, and Ann is back.
        source.calls.value = -1_000_000
        source.login.set(.user("bob"))
        let bob = result(network)
        clock.advanceBy(1000)
        XCTAssertEqual(bob.value, "bob 1")
        source.login.set(.user("ann"))
        source.calls.value = 0
        let ann = result(network)
        clock.advanceBy(1000)
        XCTAssertTrue(
          ["ann 1", "authentication"].contains(ann.value), "\(ann.value ?? "nothing") at look \(at), \(order)")
      }
    }
  }

  func test_unknownUser_receivesNoResponseOfAKnownOne() {
    let login = OwnLogin(.user("ann"), for: home)
    let network = network(server(busyFor: "none"), [ForgetfulCache(), login])
    let ann = result(network)
    clock.advanceBy(100)
    XCTAssertEqual(ann.value, "ann 1")
    login.set(.unknown)
    let unknown = result(network)
    clock.advanceBy(100)
    XCTAssertEqual(unknown.value, "authentication")
  }
}
