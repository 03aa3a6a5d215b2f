import PortableFoundation
import Streams

/// A cache of responses in memory and on disk.
///
/// Both levels keep the most recently used entries, up to a limit in bytes. All disk work runs on the cache's own
/// queues: callers never wait for the disk, and lookups never block on writes. An entry that can't be written or read
/// is a cache miss, and `onProblem` is called once.
///
/// Only one cache at a time uses a directory; a second one, in this process or another, caches only in memory until the
/// first one is released. Only the owner can read the files. File names are digests.
public final class ResponseCache: Sendable {
  typealias Match = (entry: CacheEntry, key: String)

  enum Found: Sendable {
    case now(Match?)
    case later(Single<Match?>)
  }

  /// The clock of the backend that used the cache last; any thread changes it.
  private let clock = Clock()

  private final class Clock: Sendable {
    /// Guards the reference to the clock, which any call may replace.
    let scheduler = Locked<any SchedulerType>(ConcurrentDispatchQueueScheduler(qos: .utility))

    var now: Double { scheduler.withLock { $0 }.now.timeIntervalSinceReferenceDate }
  }

  // Guards the memory level, which callers, mapping and the cache's queues access. Evicted entries are released outside
  // the lock; files belong to the queues.
  let memory: Locked<Memory>
  private let maxMemorySize: Int
  let disk: DiskStore?
  let queue = DispatchQueue(label: "NetLayer.ResponseCache", qos: .userInitiated)
  /// The queue that writes files and waits for the disk.
  let writing = DispatchQueue(label: "NetLayer.ResponseCache.writing", qos: .utility)
  private let onProblem: @Sendable (NetworkError) -> Void

  /// Creates a cache.
  ///
  /// - Parameters:
  ///   - directory: A directory for this cache only, created if it is missing; `nil` to cache only in memory. One that
  ///     contains other files, or belongs to another user, is reported and not used.
  ///   - maxMemorySize: The maximum number of bytes in memory, 8 MB by default.
  ///   - maxDiskSize: The maximum number of bytes on disk, 50 MB by default.
  ///   - onProblem: A closure that is called once for each reason that limits the cache, with an error of kind `file`,
  ///     on any thread. By default it writes a line to standard error.
  public init(
    storingIn directory: URL?, maxMemorySize: Int = 8 << 20, maxDiskSize: Int = 50 << 20,
    onProblem: @escaping @Sendable (NetworkError) -> Void = { StandardError.print($0.reason) }
  ) {
    self.maxMemorySize = maxMemorySize
    self.onProblem = onProblem
    memory = Locked(Memory(entries: LeastRecentlyUsed(limit: maxMemorySize)))
    disk = directory.map { [clock] directory in
      DiskStore(
        path: directory.path, limit: maxDiskSize, now: { clock.now },
        onProblem: { onProblem(NetworkError(kind: .file, reason: $0)) })
    }
  }

  /// Returns a directory named `name` in the system's location for user caches: `~/.cache` on Linux.
  public static func directory(named name: String) -> URL? {
    FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first?.appending(path: name)
  }

  /// Removes all entries, for example when a user signs out.
  public func removeAll() {
    memory.release { memory in
      memory.changes += 1
      memory.removedBefore = memory.changes
      memory.removals = LeastRecentlyUsed(limit: 1000)
      let gone = memory.entries
      memory.entries = LeastRecentlyUsed(limit: maxMemorySize)
      onDisk { $0.removeAll() }
      return gone
    }
  }

  /// Removes every entry whose URL is `url` or below its path, for all users and with any key.
  ///
  /// `https://h/shop` removes `https://h/shop?page=2` and `https://h/shop/1`, but not `https://h/shopping`. Query and
  /// fragment of `url` are ignored. The response of an in-flight request is not stored.
  public func removeAll(below url: URL) { remove(tag: CacheTags.below(url)) }
}

extension ResponseCache {
  /// The time, in seconds since 1 January 2001.
  var now: Double { clock.now }

  /// Uses the clock of the backend whose call uses the cache.
  package func follow(_ scheduler: any SchedulerType) { clock.scheduler.withLock { $0 = scheduler } }

  /// Looks up the response of `key` for a request with the fields `headers`.
  func find(_ key: String, for headers: HTTPHeaders) -> Found {
    let (found, changes, hits) = memory.withLock { memory in
      let found = memory.match(key, for: headers)
      if found != nil { memory.hits &+= 1 }
      return (found, memory.changes, memory.hits)
    }
    if let found {
      // Entries with many hits in memory must not seem unused on disk. A sample of the hits is enough.
      if hits % 64 == 0 { onDisk { disk in DiskStore.Name(key: found.key).map(disk.touch) } }
      return .now(live(found))
    }
    guard let disk else { return .now(nil) }
    return .later(
      Single.create { [self] observer in
        queue.async {
          let found = self.search(disk, key, for: headers, since: changes)
          observer(.success(found.flatMap(self.live)))
        }
        return Disposables.create()
      })
  }

  /// The number of stored and removed entries.
  var changes: UInt64 { memory.withLock { $0.changes } }

  /// Stores `entry` as the response to a request with the fields `headers`, unless `key` was removed since the count of
  /// changes was `mark`. Pass the count from before the request, or `nil` for the current one.
  func store(_ entry: CacheEntry, for key: String, headers: HTTPHeaders, since mark: UInt64? = nil) {
    let names = Self.variantFields(entry.headers)
    let mark = mark ?? changes
    guard !names.isEmpty else { return put(entry, key, of: key, since: mark) }
    let known = memory.withLock { $0.entries.value(for: key) }
    if known?.listsVariants == true || disk == nil {
      return storeVariant(entry, key, names, headers, mark, below: known)
    }
    // The list of variants may be on disk. Until the list is read, the entry counts as waiting to be written.
    guard memory.withLock({ $0.reserve(entry.cost) }) else { return remove(key) }
    onDisk { disk in
      self.release(entry.cost)
      let known = self.read(disk, key, promoting: nil)
      self.storeVariant(entry, key, names, headers, mark, below: known)
    }
  }

  /// Removes all responses of `key`, including all variants.
  func remove(_ key: String) {
    memory.release { memory in
      memory.noteRemoval(of: key)
      // Called under the lock, so that a lookup that knows of the removal can't run before the removal.
      onDisk { disk in DiskStore.Name(key: key).map(disk.remove) }
      return memory.entries.remove(key)
    }
  }

  /// Removes all responses of `url`, for any user and key (RFC 9111 §4.4).
  package func removeAll(of url: URL) { remove(tag: CacheTags.exact(url)) }

  func removeAll(tagged tag: CacheTag) { remove(tag: CacheTags.named(tag)) }

  private func remove(tag: String) {
    memory.release { memory in
      memory.noteRemoval(of: tag)
      onDisk { $0.remove(tag: tag) }
      return memory.entries.remove { $0.tags.contains(tag) }
    }
  }

  /// Returns the stored response of `match` to `request`, at `now`.
  func response(_ match: Match, to request: Request, at now: Double, isProvisional: Bool = false) -> Response {
    let (entry, age) = (match.entry, match.entry.age(at: now))
    var context = Context()
    context[SourceKey.self] = .cache(age: Duration(clampingSeconds: age), isStale: age >= entry.freshness.lifetime)
    context[CachedResponse.self] = reference(
      to: entry, of: match.key, for: request.headers, isProvisional: isProvisional)
    return entry.response(to: request, age: age, context: context)
  }

  /// Returns the reference to `entry`, the response of `key` to a request with the fields `headers`, for a response to carry.
  func reference(
    to entry: CacheEntry, of key: String, for headers: HTTPHeaders, isProvisional: Bool = false
  ) -> CachedResponse {
    CachedResponse(isProvisional: isProvisional) { [self] in distrust(entry, of: key, for: headers) }
  }

  /// Marks `entry`, the response of `key` to a request with the fields `headers`, as stale because it could not be
  /// read. A newer entry is not affected.
  func distrust(_ entry: CacheEntry, of key: String, for headers: HTTPHeaders) {
    let isInMemory = memory.withLock { memory in
      guard let found = memory.match(key, for: headers) else { return false }
      guard found.entry === entry else { return true }
      let distrusted = entry.distrusted
      _ = memory.entries.insert(distrusted, for: found.key, cost: distrusted.cost)
      return true
    }
    if !isInMemory { remove(key) }
  }

  /// Runs `work` unless it is already running for `key`; no caller waits for it.
  func refresh(_ key: String, _ work: Observable<Response>) {
    guard memory.withLock({ $0.refreshing.insert(key).inserted }) else { return }
    _ = work.subscribe(
      // The caller already has a response, and the next caller retries.
      onError: { _ in }, onDisposed: { [self] in memory.withLock { _ = $0.refreshing.remove(key) } })
  }

  func report(_ reason: String) {
    guard memory.withLock({ $0.reported.insert(reason).inserted }) else { return }
    onProblem(NetworkError(kind: .file, reason: reason))
  }

  func onDisk(_ work: @escaping @Sendable (DiskStore) -> Void) {
    guard let disk else { return }
    queue.async { work(disk) }
  }
}
