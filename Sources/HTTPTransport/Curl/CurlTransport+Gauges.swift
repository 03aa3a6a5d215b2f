#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  extension CurlTransport {
    /// A snapshot of the connections and requests of a transport. WebSockets are not included.
    public struct Gauges: Sendable, Hashable {
      /// The counts of one origin, or of all origins.
      public struct Counts: Sendable, Hashable {
        /// The number of open connections, including those being established. An idle connection that the server has
        /// closed counts until libcurl checks it before its next use.
        public internal(set) var connections = 0
        /// The number of open connections without a request.
        public internal(set) var idle = 0
        /// The number of requests that have a connection or are connecting. With HTTP/2, several requests share one
        /// connection.
        public internal(set) var running = 0
        /// The number of requests that wait because `maxConnectionsPerHost` or `maxConnections` is reached.
        public internal(set) var waiting = 0
      }

      /// The counts of all origins.
      public internal(set) var total = Counts()
      /// The counts by origin, such as `https://api.example.com` or `http://127.0.0.1:8080`. Origins without a
      /// connection or a request are omitted.
      public internal(set) var origins: [String: Counts] = [:]
    }

    /// Returns a snapshot of the connections and requests.
    ///
    /// The transport's thread counts them on demand, in a few microseconds, so that requests have no overhead. All
    /// counts are 0 after `shutdown()`. Safe from any thread.
    public func gauges() async -> Gauges {
      // After the end of the loop, and in a child process of fork, the task runs elsewhere.
      await withTaskExecutorPreference(loop) { loop.isCurrent ? loop.gauges : Gauges() }
    }
  }

  extension CurlLoop {
    /// The snapshot of the loop. Used only on its thread.
    var gauges: CurlTransport.Gauges {
      var gauges = CurlTransport.Gauges()
      var byLane: [UInt32: CurlTransport.Gauges.Counts] = [:]
      func count(_ lane: UInt32, _ change: (inout CurlTransport.Gauges.Counts) -> Void) {
        change(&byLane[lane, default: .init()])
        change(&gauges.total)
      }
      let busy = Set(live.compactMap { $0.handle?.connectionData.pointee.connection })
      var (socket, lane): (Int32, UInt32) = (-1, 0)
      while case let connection = ccurl_multi_next_connection(multi, &socket, &lane), connection > 0 {
        count(lane) { counts in
          counts.connections += 1
          if !busy.contains(connection) { counts.idle += 1 }
        }
      }
      for lane in queue.lanes.values where !lane.isAtRest {
        count(lane.number) { counts in
          counts.running += lane.running
          counts.waiting += lane.waitingCount
        }
      }
      for (origin, lane) in queue.lanes { gauges.origins[origin] = byLane[lane.number] }
      return gauges
    }
  }
#endif
