import PortableFoundation
import Streams

/// The watched requests of a network and of its copies by `with`. Each exists as long as someone watches or edits it.
final class Watching: SharedValue {
  private struct Entry {
    let query: Query
    /// The number of watchers and of writes in flight.
    var uses = 0
    /// The names by which an invalidation finds it: tags, and the method with the URL.
    var names: Set<String> = []
  }

  private struct State {
    var entries: [String: Entry] = [:]
    /// The keys of the entries with a name.
    var named: [String: Set<String>] = [:]
    var lastNumber = 0
  }

  /// Guards the lists, which watchers, writes and invalidations change. Queries are called outside the lock.
  private let state = Locked(State())

  func number() -> Int {
    state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  /// Returns the query at `address`, which exists until `leave` is called as often as this.
  func enter(_ address: QueryAddress) -> Query {
    let (query, isNew) = state.withLock { state -> (Query, Bool) in
      var entry = state.entries[address.key] ?? Entry(query: Query(address))
      entry.uses += 1
      for name in address.names where entry.names.insert(name).inserted {
        state.named[name, default: []].insert(address.key)
      }
      state.entries[address.key] = entry
      return (entry.query, entry.uses == 1)
    }
    if isNew { query.followAccounts() }
    return query
  }

  func leave(_ query: Query) {
    let key = query.address.key
    let isOver = state.take { state -> (Bool, Entry?) in
      guard var entry = state.entries[key] else { return (false, nil) }
      entry.uses -= 1
      guard entry.uses == 0 else {
        state.entries[key] = entry
        return (false, nil)
      }
      state.entries[key] = nil
      for name in entry.names {
        state.named[name]?.remove(key)
        if state.named[name]?.isEmpty == true { state.named[name] = nil }
      }
      return (true, entry)
    }
    if isOver { query.signals.dispose() }
  }

  /// Returns the queries with one of `names`; `nil` for all.
  func queries(named names: [String]?) -> [Query] {
    state.withLock { state in
      guard let names else { return state.entries.values.map(\.query) }
      let keys = Set(names.flatMap { state.named[$0] ?? [] })
      return keys.compactMap { state.entries[$0]?.query }
    }
  }

  func invalidate(_ data: Invalidation) { for query in queries(named: data.names) { query.invalidate() } }

  /// The number of queries and of their names, for tests.
  var counts: [Int] { state.withLock { [$0.entries.count, $0.named.count] } }
}

extension Network {
  var watching: Watching { shared[Watching.self] }
}
