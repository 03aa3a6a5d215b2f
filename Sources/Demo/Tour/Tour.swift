import Dispatch
import Foundation
import LoopbackServer
import NetLayer
import Streams
import Synchronization

/// `Demo`: what NetLayer does, against a server of its own, line by line as results arrive.
enum Tour {
  /// The time that the whole may take; it needs about two seconds.
  private static let limit = 15

  static func run(_ console: Console) -> Int32 {
    do {
      let server = try TourServer.start()
      let silent = try LoopbackServer { _ in .neverAnswering }
      defer {
        server.stop()
        silent.stop()
      }
      Interrupt.handle { _exit(130) }
      return play(try Stops(server: server, silent: silent), console)
    } catch {
      console.complain("\(error)")
      return 1
    }
  }

  private static func play(_ stops: Stops, _ console: Console) -> Int32 {
    let ended = DispatchSemaphore(value: 0)
    let code = Atomic<Int32>(1)
    let subscription = Observable<String>.concat(stops.all).subscribe(
      onNext: { line in
        // Nobody reads any more: an ordinary end.
        if !console.print(line) { _exit(0) }
      },
      onError: { error in
        console.complain("the tour failed: \(error)")
        ended.signal()
      },
      onCompleted: {
        code.store(0, ordering: .releasing)
        ended.signal()
      })
    if ended.wait(timeout: .now() + .seconds(limit)) == .timedOut {
      subscription.dispose()
      console.complain("the tour took more than \(limit) s")
    }
    return code.load(ordering: .acquiring)
  }
}
