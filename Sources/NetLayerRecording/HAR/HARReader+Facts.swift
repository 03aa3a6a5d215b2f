import JSONText

extension HARReader {
  /// Reads the phases. A negative value is a phase that did not occur.
  static func readTimings(_ json: JSON, into timings: inout HAREntry.Timings) {
    timings.blocked = milliseconds(json["blocked"]) ?? -1
    timings.dns = milliseconds(json["dns"]) ?? -1
    timings.connect = milliseconds(json["connect"]) ?? -1
    timings.ssl = milliseconds(json["ssl"]) ?? -1
    timings.send = milliseconds(json["send"]) ?? 0
    timings.wait = milliseconds(json["wait"]) ?? 0
    timings.receive = milliseconds(json["receive"]) ?? 0
  }

  /// Reads the fields of this package, and Chromium's mark of a cached response.
  static func readFacts(_ json: JSON, into facts: inout HAREntry.Facts) {
    facts.call = json["_call"].int
    facts.attempt = json["_attempt"].int
    facts.pause = milliseconds(json["_pause"])
    facts.cache = json["_cache"].string ?? (json["_fromCache"].string == nil ? nil : "hit")
    facts.coalesced = json["_coalesced"].int
    facts.endpoint = json["_endpoint"].string
    facts.decoding = milliseconds(json["_decodeMilliseconds"])
  }

  static func messages(_ json: JSON) -> [HAREntry.Message] {
    (json.array ?? []).prefix(maxMessages).compactMap { message in
      guard let data = message["data"].string else { return nil }
      let opcode = message["opcode"].int ?? 1
      return HAREntry.Message(
        isSent: message["type"].string == "send", time: seconds(message["time"]), opcode: opcode, data: data)
    }
  }

  static func events(_ json: JSON) -> [HAREntry.Event] {
    (json.array ?? []).prefix(maxMessages).compactMap { event in
      guard let data = event["data"].string else { return nil }
      return HAREntry.Event(
        time: seconds(event["time"]), name: event["eventName"].string ?? "", id: event["eventId"].string ?? "",
        data: data)
    }
  }

  /// Returns a time in seconds since 1970. Playwright writes milliseconds.
  private static func seconds(_ json: JSON) -> Double {
    let value = min(max(json.double ?? 0, 0), 1e14)
    return value > 1e11 ? value / 1_000 : value
  }
}
