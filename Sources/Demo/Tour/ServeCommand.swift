import Dispatch
import Foundation

/// `Demo serve`: the tour's server for other programs to play with.
enum ServeCommand {
  static func run(_ arguments: [String], _ console: Console) -> Int32 {
    if let argument = arguments.first {
      console.complain("serve takes no arguments, but got \(argument.debugDescription)")
      return 2
    }
    do {
      let server = try TourServer.start()
      console.print(server.url.absoluteString)
      let interrupted = DispatchSemaphore(value: 0)
      Interrupt.handle { interrupted.signal() }
      interrupted.wait()
      server.stop()
      return 0
    } catch {
      console.complain("\(error)")
      return 1
    }
  }
}
