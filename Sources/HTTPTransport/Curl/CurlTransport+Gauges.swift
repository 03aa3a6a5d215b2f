#if canImport(CCurl)
  import CCurl
  import PortableFoundation

  extension CurlTransport {
    /// The connections and requests of a transport at one moment; WebSockets are not counted.
    public struct Gauges: Sendable, Hashable {
      /// The counts of one origin, or of all.
      public struct Counts: Sendable, Hashable {
        /// Open connections, with those that are being made. A kept connection that the server has closed counts until libcurl
        /// looks at it, before its next use.
        public internal(set) var connections = 0
        /// Open connections without a request.
        public internal(set) var idle = 0
        /// Requests that have a connection, or are getting one; several of HTTP/2 share one connection.
        public internal(set) var running = 0
        /// Requests that wait, as `maxConnectionsPerHost` or `maxConnections` is reached.
        public internal(set) var waiting = 0
      }

      /// The counts of all origins.
      public internal(set) var total = Counts()
      /// The counts by origin, such as `https://api.example.com` or `http://127.0.0.1:8080`; origins without a connection or
      /// a request are left out.
      public internal(set) var origins: [String: Counts] = [:]
    }

    /// Returns the connections and requests of this moment.
    ///
    /// The transport's thread counts them when it is asked, so that requests pay nothing; it takes some microseconds. All counts
    /// are 0 after `shutdown()`. Safe from any thread.
    public func gauges() async -> Gauges {
      await withCheckedContinuation { continuation in loop.ask { continuation.resume(returning: $0) } }
    }
  }

  extension CurlLoop {
    /// The state of the loop; its thread only.
    var gauges: CurlTransport.Gauges {
      var gauges = CurlTransport.Gauges()
      var byLane: [UInt32: CurlTransport.Gauges.Counts] = [:]
      func count(_ lane: UInt32, _ change: (inout CurlTransport.Gauges.Counts) -> Void) {
        change(&byLane[lane, default: .init()])
        change(&gauges.total)
      }
      let busy = Set(live.compactMap { $0.handle?.place.pointee.connection })
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
