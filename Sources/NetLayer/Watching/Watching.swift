import PortableFoundation
import Streams

/// The watched requests of a network and of its copies by `with`. Each exists as long as someone watches or edits it.
final class Watching: Sendable {
  private struct Entry {
    let query: Query
    let address: QueryAddress
    /// The number of watchers and of writes in flight.
    var uses = 0
    /// The names by which an invalidation finds it: tags, and the method with the URL.
    var names: Set<String> = []
  }

  private struct State {
    var entries: [String: Entry] = [:]
    /// The keys of the entries with a name.
    var named: [String: Set<String>] = [:]
    /// The subscription to each interceptor that knows the user, and the number of its entries.
    var accounts: [ObjectIdentifier: (count: Int, subscription: SingleAssignmentDisposable)] = [:]
    var lastNumber = 0
  }

  /// Guards the lists, which watchers, writes and invalidations change. Queries are called outside the lock.
  private let state = Locked(State())

  /// Returns a new number, of a watcher or a write.
  func number() -> Int {
    state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  /// Returns the query at `address`, which exists until `leave` is called as often as this.
  func enter(_ address: QueryAddress) -> Query {
    let (query, news) = state.withLock { state -> (Query, [(AuthenticationInterceptor, SingleAssignmentDisposable)]) in
      var news: [(AuthenticationInterceptor, SingleAssignmentDisposable)] = []
      var entry = state.entries[address.key] ?? Entry(query: Query(address), address: address)
      if entry.uses == 0 {
        for account in address.accounts {
          let id = ObjectIdentifier(account)
          var known = state.accounts[id] ?? (0, SingleAssignmentDisposable())
          if known.count == 0 { news.append((account, known.subscription)) }
          known.count += 1
          state.accounts[id] = known
        }
      }
      entry.uses += 1
      for name in address.names where entry.names.insert(name).inserted {
        state.named[name, default: []].insert(address.key)
      }
      state.entries[address.key] = entry
      return (entry.query, news)
    }
    for (account, subscription) in news {
      subscription.setDisposable(account.tokenChanges.subscribe(onNext: { [weak self] in self?.checkAccounts() }))
    }
    return query
  }

  func leave(_ address: QueryAddress) {
    let ended = state.take { state -> ([SingleAssignmentDisposable], Entry?) in
      guard var entry = state.entries[address.key] else { return ([], nil) }
      entry.uses -= 1
      guard entry.uses == 0 else {
        state.entries[address.key] = entry
        return ([], nil)
      }
      state.entries[address.key] = nil
      for name in entry.names {
        state.named[name]?.remove(address.key)
        if state.named[name]?.isEmpty == true { state.named[name] = nil }
      }
      let ended = entry.address.accounts.compactMap { account -> SingleAssignmentDisposable? in
        let id = ObjectIdentifier(account)
        state.accounts[id]?.count -= 1
        return state.accounts[id]?.count == 0 ? state.accounts.removeValue(forKey: id)?.subscription : nil
      }
      return (ended, entry)
    }
    for subscription in ended { subscription.dispose() }
  }

  /// Returns the queries with one of `names`; `nil` for all.
  func queries(named names: [String]?) -> [Query] {
    state.withLock { state in
      guard let names else { return state.entries.values.map(\.query) }
      let keys = Set(names.flatMap { state.named[$0] ?? [] })
      return keys.compactMap { state.entries[$0]?.query }
    }
  }

  /// Ends the values of a user who has signed out.
  private func checkAccounts() { for query in queries(named: nil) { query.checkAccount() } }

  /// The number of queries, subscriptions and names, for tests.
  var counts: [Int] { state.withLock { [$0.entries.count, $0.accounts.count, $0.named.count] } }
}
