import PortableFoundation
import Streams

/// Answers that are kept: in memory, and behind that in files (article row 3.7).
///
/// ```swift
/// let cache = Cache(directory: Cache.directory(named: "shop"))
/// let shop = Network(Backend(baseURL: url, interceptors: [CacheInterceptor(cache)]))
/// ```
/// Both hold what was used last, up to a limit in bytes. The directory is opened at the first use, on a queue of the
/// cache's own, which does all its work: callers never wait for the disk, and lookups never wait for writes. An entry that can't be
/// written or read is treated as a miss, and `onProblem` is called once. After a full disk, a lack of descriptors or the
/// removal of the directory, the directory is used again as soon as possible.
///
/// One cache at a time uses a directory: a second one, in this process or another, keeps its answers in memory only until
/// the first has gone.
/// Files can be read by their owner only; their names are digests, and the URL is not among their content, unless it came by a
/// redirect.
public final class Cache: Sendable {
  /// An entry that was found, and its key.
  typealias Match = (entry: CacheEntry, key: String)

  /// What a search came to.
  enum Found: Sendable {
    /// The entry, or that there is none.
    case now(Match?)
    /// To be looked for on disk.
    case later(Single<Match?>)
  }

  let clock: any SchedulerType
  // Callers, mapping and the cache's queues; entries that leave are released after, files are the queues' affair.
  let memory: Locked<Memory>
  private let memoryLimit: Int
  let disk: DiskStore?
  let queue = DispatchQueue(label: "NetLayer.Cache", qos: .userInitiated)
  /// Writes files, and waits for the disk to have them.
  let writing = DispatchQueue(label: "NetLayer.Cache.writing", qos: .utility)
  private let onProblem: @Sendable (NetworkError) -> Void

  /// A cache.
  ///
  /// - Parameters:
  ///   - directory: a directory of its own, made when it is missing; `nil` for a cache in memory only.
  ///   - memoryLimit: how many bytes are kept in memory, 8 MB by default.
  ///   - diskLimit: how many bytes are kept on disk, 50 MB by default.
  ///   - clock: what times are taken from.
  ///   - onProblem: hears once of each reason for which the cache does less than it should, as an error of kind `file`, on
  ///     whatever thread that shows; writes a line to standard error by default.
  public init(
    directory: URL?, memoryLimit: Int = 8 << 20, diskLimit: Int = 50 << 20,
    clock: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility),
    onProblem: @escaping @Sendable (NetworkError) -> Void = { StandardError.print($0.reason) }
  ) {
    self.clock = clock
    self.memoryLimit = memoryLimit
    self.onProblem = onProblem
    memory = Locked(Memory(entries: LeastRecentlyUsed(limit: memoryLimit)))
    disk = directory.map { directory in
      DiskStore(
        path: directory.path, limit: diskLimit, now: { clock.now.timeIntervalSinceReferenceDate },
        report: { onProblem(NetworkError(kind: .file, reason: $0)) })
    }
  }

  /// A directory called `name` where the system keeps a user's caches: `~/.cache` on Linux.
  public static func directory(named name: String) -> URL? {
    FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first?.appending(path: name)
  }

  /// Forgets everything: for signing out.
  public func removeAll() {
    let gone = memory.withLock { memory in
      memory.changes += 1
      memory.removedBefore = memory.changes
      memory.removals = LeastRecentlyUsed(limit: 1000)
      let gone = memory.entries
      memory.entries = LeastRecentlyUsed(limit: memoryLimit)
      onDisk { $0.removeAll() }
      return gone
    }
    withExtendedLifetime(gone) {}  // released outside the lock
  }

  /// Removes every entry whose URL is `url` or below its path, for all users and whatever their keys of their own.
  ///
  /// `https://h/shop` removes `https://h/shop`, `https://h/shop?page=2` and `https://h/shop/1`, but not
  /// `https://h/shopping`. Scheme, host and port must be the same, as written; query and fragment of `url` do not count. A
  /// response that was requested before is not stored any more.
  public func removeAll(below url: URL) { remove(tag: CacheTags.below(url)) }
}

extension Cache {
  /// The time, in seconds since 1 January 2001.
  var now: Double { clock.now.timeIntervalSinceReferenceDate }

  /// Looks for the answer of `key` for a request with the fields `headers`.
  func find(_ key: String, for headers: HTTPHeaders) -> Found {
    let (found, changes, hits) = memory.withLock { memory in
      let found = memory.match(key, for: headers)
      if found != nil { memory.hits &+= 1 }
      return (found, memory.changes, memory.hits)
    }
    if let found {
      // What is always found in memory must not look unused on disk; that of many are as good as all.
      if hits % 64 == 0 { onDisk { $0.touch(DiskStore.Name(key: found.key)) } }
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

  /// What is stored and removed, counted.
  var changes: UInt64 { memory.withLock { $0.changes } }

  /// Keeps `entry` as the answer to a request with the fields `headers`, unless `key` was removed since the count of
  /// changes was `mark`, when it was asked for; now, if that is `nil`.
  func store(_ entry: CacheEntry, for key: String, headers: HTTPHeaders, since mark: UInt64? = nil) {
    let names = Self.variantFields(entry.headers)
    let mark = mark ?? changes
    guard !names.isEmpty else { return put(entry, key, of: key, since: mark) }
    let known = memory.withLock { $0.entries.value(for: key) }
    if known?.listsVariants == true || disk == nil {
      return storeVariant(entry, key, names, headers, mark, below: known)
    }
    // What chooses may be on disk. Waiting for that, it counts as what waits to be written.
    guard memory.withLock({ $0.reserve(entry.cost) }) else { return remove(key) }
    onDisk { disk in
      self.release(entry.cost)
      let known = self.read(disk, key, promoting: nil)
      self.storeVariant(entry, key, names, headers, mark, below: known)
    }
  }

  /// Forgets the answers of `key`, whatever header fields chose them.
  func remove(_ key: String) {
    let gone = memory.withLock { memory in
      memory.noteRemoval(of: key)
      // Inside the lock, so that no search that knows of the removal goes before it.
      onDisk { $0.remove(DiskStore.Name(key: key)) }
      return memory.entries.remove(key)
    }
    withExtendedLifetime(gone) {}  // released outside the lock
  }

  /// Forgets the answers of `url`, whoever asked for them under whatever key (RFC 9111 §4.4).
  func removeAll(of url: URL) { remove(tag: CacheTags.exact(url)) }

  private func remove(tag: String) {
    let gone = memory.withLock { memory in
      memory.noteRemoval(of: tag)
      onDisk { $0.remove(tag: tag) }
      return memory.entries.remove { $0.tags.contains(tag) }
    }
    withExtendedLifetime(gone) {}  // released outside the lock
  }

  /// Lets `entry`, the answer of `key` to a request with the fields `headers`, count as stale from now on, as someone could
  /// not read it; one that is newer is left alone.
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

  /// Runs `work` unless it is running for `key` already; nobody waits for it.
  func refresh(_ key: String, _ work: Observable<Response>) {
    guard memory.withLock({ $0.refreshing.insert(key).inserted }) else { return }
    _ = work.subscribe(
      // Who asked has an answer, and the next one asks again.
      onError: { _ in }, onDisposed: { [self] in memory.withLock { _ = $0.refreshing.remove(key) } })
  }

  /// Tells of a problem, once.
  func tell(_ reason: String) {
    guard memory.withLock({ $0.told.insert(reason).inserted }) else { return }
    onProblem(NetworkError(kind: .file, reason: reason))
  }

  /// Waits until what was begun is on the disk; gives the number of entries there and their bytes.
  func settle() -> (count: Int, bytes: Int) {
    // Work there adds more: a search for what chooses, the file, its name, the directory.
    for _ in 0..<4 {
      queue.sync {}
      writing.sync {}
    }
    return queue.sync { disk?.size ?? (0, 0) }
  }

  func onDisk(_ work: @escaping @Sendable (DiskStore) -> Void) {
    guard let disk else { return }
    queue.async { work(disk) }
  }
}
