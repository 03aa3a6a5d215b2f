import PortableFoundation
import Streams

/// The transport of a network, as a part of the keys under which responses are shared and stored. Transports may differ
/// in the user: by a client certificate, a proxy or an address.
package struct TransportIdentity: Sendable, Hashable {
  let keyPart: [UInt8]

  /// - Parameter isLasting: Whether stored responses can be recognized after a new launch, which assigns other numbers.
  init(number: UInt64, account: String?, isLasting: Bool) {
    keyPart = CacheKey.start(number: number, account: account, isLasting: isLasting)
  }

  private init(_ keyPart: [UInt8]) { self.keyPart = keyPart }

  func adding(_ users: String) -> TransportIdentity {
    TransportIdentity(keyPart + Array("users:\(users.utf8.count):\(users)".utf8))
  }
}

/// The numbers of transports. Unlike an address, a number is never reused.
enum TransportNumbers {
  private struct Known {
    weak var object: AnyObject?
    var number: UInt64
  }

  /// The numbers of the objects, and the last number. The lock is held only for a lookup.
  private static let state = Locked((known: [ObjectIdentifier: Known](), last: UInt64(0), sweepAt: 64))

  static var count: Int { state.withLock { $0.known.count } }

  /// Returns the number of `transport`: 0 for `nil`, the same number for the same object, and a new one for a value.
  static func number(of transport: (any Transport)?) -> UInt64 {
    guard let transport else { return 0 }
    let object = type(of: transport) is AnyClass ? transport as AnyObject : nil
    return state.withLock { state in
      let id = object.map(ObjectIdentifier.init)
      if let object, let id, let known = state.known[id], known.object === object { return known.number }
      state.last += 1
      if let id { state.known[id] = Known(object: object, number: state.last) }
      if state.known.count > state.sweepAt {
        state.known = state.known.filter { $0.value.object != nil }
        state.sweepAt = 2 * state.known.count + 64
      }
      return state.last
    }
  }
}
