import Foundation
import XCTest

@testable import NetLayerRecording

/// Tests of archives with missing, odd and hostile fields.
final class HARReaderTests: XCTestCase {
  private func read(_ entries: String) throws -> [HAREntry] {
    try HARReader.entries(in: Data(#"{"log":{"creator":{"name":"x"},"entries":[\#(entries)]}}"#.utf8))
  }

  private func entry(response: String, rest: String = "") throws -> HAREntry {
    try XCTUnwrap(
      try read(#"{"request":{"method":"GET","url":"http://h/a"},"response":\#(response)\#(rest)}"#).first)
  }

  private func sent(_ request: String) throws -> HAREntry.SentBody? {
    try read(#"{"request":{"url":"http://h/",\#(request)},"response":{"status":200}}"#).first?.requestBody
  }

  func test_entriesAreFoundBehindOtherMembers() throws {
    for other in [#""a":[1,[2],{"b":[]}]"#, #""a":{"entries":[1]}"#, #""a":"]}""#, #""pages":[]"#] {
      let archive = Data(#"{"log":{\#(other),"entries":[{"request":{}},7]}}"#.utf8)
      let parts = try XCTUnwrap(HARParts(archive), other)
      XCTAssertEqual(parts.entries.map { String(decoding: archive[$0], as: UTF8.self) }, [#"{"request":{}}"#, "7"])
    }
    for other in [#"{"log":[{"entries":[1]}]}"#, #"{"entries":[1]}"#, #"{"log":{"a":{"entries":[1]}}}"#] {
      XCTAssertNil(HARParts(Data(other.utf8)), other)
    }
  }

  func test_nullsAreAccepted() throws {
    let entry = try entry(
      response:
        #"{"status":200,"httpVersion":null,"headers":[null,{"name":null},{"name":"A","value":null}],"content":null}"#,
      rest: #","startedDateTime":null,"time":null,"timings":null,"_webSocketMessages":null,"_error":null"#)
    XCTAssertEqual(entry.status, 200)
    XCTAssertEqual(entry.responseHeaders, HTTPHeaders([.init(name: "A", value: "")]))
    XCTAssertNil(entry.started)
    XCTAssertEqual(try read("null,7,{},{\"request\":{\"method\":null,\"url\":\"http://h\"}}"), [])
  }

  func test_pseudoFieldsAreSkipped_andJoinedCookiesAreSplit() throws {
    let entry = try entry(
      response: #"{"status":200,"headers":[{"name":":status","value":"200"},{"name":"set-cookie","value":"a=1\nb=2"}]}"#
    )
    XCTAssertEqual(entry.responseHeaders.values(of: "Set-Cookie"), ["a=1", "b=2"])
    XCTAssertEqual(entry.responseHeaders.count, 2)
  }

  func test_entriesAreFoundInAnyArchive() throws {
    let entry = #"{"request":{"method":"GET","url":"http://h/\\\"]}/x"},"response":{"status":200}}"#
    for text in [
      #"{"log":{"entries":[\#(entry)]}}"#, #" { "log" : { "a":[1,[2]], "entries" : [ \#(entry) ] , "b":{} } } "#,
      #"{"x":{"entries":[7]},"log":{"creator":{"entries":[8],"name":"\""},"entries":[\#(entry)]},"entries":[9]}"#,
      #"{"log":{"entries":[\#(entry)],"entries":[]}}"#, #"{"\u006cog":{"entries":[\#(entry)]}}"#,
      "\u{FEFF}" + #"{"log":{"entries":[\#(entry)]}}"#, #"{"ü":1,"log":{"entries":[\#(entry)]}}"#,
    ] {
      XCTAssertEqual(try HARReader.entries(in: Data(text.utf8)).map(\.url), [#"http://h/%5C%22%5D%7D/x"#], text)
    }
    for text in [
      #"{"log":{"entries":[]}}"#, #"{"log":{"entries":[ ]}}"#, #"{"log":{"entries":[7,null]}}"#,
    ] {
      XCTAssertEqual(try HARReader.entries(in: Data(text.utf8)), [], text)
    }
    for text in [
      #"{"log":{"entries":[\#(entry),]}}"#, #"{"log":{"entries":[\#(entry)"#, #"{"log":{"entries":[\#(entry)]}"#,
      #"{"log":{"entries":[{]}}"#, #"{"log":{"entries":[1 2]}}"#, #"{"log":{"entries":["a]}}"#,
      #"{"log":{"entries":[,]}}"#,
    ] {
      XCTAssertThrowsError(try HARReader.entries(in: Data(text.utf8)), text)
    }
  }

  func test_otherSchemesAreSkipped() throws {
    let urls = ["data:text/plain,a", "blob:http://h/1", "chrome-extension://x/", "http://", "", "/relative"]
    let json = urls.map { #"{"request":{"method":"GET","url":"\#($0)"},"response":{"status":200}}"# }
    XCTAssertEqual(try read(json.joined(separator: ",")), [])
  }

  func test_aURLWithInvalidCharactersKeepsItsEscapes() throws {
    let entry = try XCTUnwrap(read(#"{"request":{"method":"GET","url":"http://h/a b%2F?f[a]=%26#x"}}"#).first)
    XCTAssertEqual(entry.url, "http://h/a%20b%2F?f%5Ba%5D=%26")
    XCTAssertEqual(entry.redacted(.standard).url, entry.url)
  }

  func test_aLoneSurrogateLosesOnlyItsValue() throws {
    let entry = try entry(
      response: #"{"status":200,"headers":[{"name":"A","value":"\udce9"},{"name":"B","value":"b"}]}"#)
    XCTAssertEqual(entry.responseHeaders["B"], "b")
    XCTAssertNotNil(try self.entry(response: #"{"status":200,"content":{"text":"\udce9"}}"#).missingBody)
  }

  func test_hostileNumbersAreLimited() throws {
    let entry = try entry(
      response: #"{"status":99999999999,"content":{"size":-9e99,"text":"a"}}"#,
      rest: #","time":1e999,"timings":{"wait":-5,"dns":1e300,"receive":"x"}"#)
    XCTAssertEqual(entry.status, 999)
    XCTAssertEqual(entry.body, Data("a".utf8))
    XCTAssertEqual(entry.time, 0)
    XCTAssertEqual(entry.timings.wait, 0)
    XCTAssertEqual(entry.timings.dns, 1e12)
    XCTAssertEqual([entry.timings.send, entry.timings.receive], [0, 0])
    XCTAssertEqual([entry.timings.blocked, entry.timings.connect, entry.timings.ssl], [-1, -1, -1])
  }

  func test_numbersOfFieldsAndMessagesAreLimited() throws {
    let fields = Array(repeating: #"{"name":"A","value":"a"}"#, count: HARReader.maxFields + 5).joined(separator: ",")
    let messages = Array(repeating: #"{"data":"a"}"#, count: HARReader.maxMessages + 5).joined(separator: ",")
    let entry = try entry(
      response: #"{"status":101,"headers":[\#(fields)]}"#, rest: #","_webSocketMessages":[\#(messages)]"#)
    XCTAssertEqual(entry.responseHeaders.count, HARReader.maxFields)
    XCTAssertEqual(entry.messages.count, HARReader.maxMessages)
    let cookies = #"{"name":"Set-Cookie","value":"\#(String(repeating: #"a\n"#, count: 599))a"}"#
    let joined = try self.entry(response: #"{"status":200,"headers":[\#(cookies),\#(cookies)]}"#)
    XCTAssertEqual(joined.responseHeaders.count, HARReader.maxFields)
  }

  func test_bytesThatAreStoredAsScalars() throws {
    func body(_ content: String, headers: String = "[]") throws -> Data {
      try entry(response: #"{"status":200,"headers":\#(headers),"content":\#(content)}"#).body
    }
    XCTAssertEqual(try body(#"{"size":2,"text":"\u0000ÿ"}"#), Data([0, 255]))
    XCTAssertEqual(try body(#"{"size":3,"text":"\u0000ÿ"}"#), Data([0, 0xC3, 0xBF]))
    XCTAssertEqual(try body(#"{"size":-1,"text":"ÿ"}"#), Data([0xC3, 0xBF]))
    let cut = #"{"status":200,"content":{"size":2,"text":"éé"}}"#
    XCTAssertEqual(try entry(response: cut, rest: #","_truncated":4"#).body, Data("éé".utf8), "our own text")
    let gzip = #"[{"name":"content-encoding","value":"gzip"}]"#
    XCTAssertEqual(try body(#"{"size":1,"text":"ÿ"}"#, headers: gzip), Data([0xC3, 0xBF]))
    XCTAssertEqual(try body(#"{"text":"AAH/","encoding":"base64"}"#), Data([0, 1, 255]))
    XCTAssertNotNil(try entry(response: #"{"status":200,"content":{"text":"A","encoding":"base64"}}"#).missingBody)
    XCTAssertNotNil(try entry(response: #"{"status":200,"content":{"_file":"a.png"}}"#).missingBody)
  }

  func test_theCharsetOfDecodedTextIsUTF8() throws {
    func type(_ charset: String, _ text: String) throws -> String? {
      try entry(
        response: """
          {"status":200,"headers":[{"name":"Content-Type","value":"text/plain; charset=\(charset); a=b"}],\
          "content":{"text":"\(text)"}}
          """
      ).responseHeaders["Content-Type"]
    }
    XCTAssertEqual(try type("shift_jis", "日本"), "text/plain; charset=utf-8; a=b")
    XCTAssertEqual(try type("utf-16", "a"), "text/plain; charset=utf-8; a=b")
    XCTAssertEqual(try type("iso-8859-1", "a"), "text/plain; charset=iso-8859-1; a=b")
  }

  func test_onlyTextBodiesOfRequestsAreCompared() throws {
    XCTAssertEqual(try sent(#""method":"GET""#), HAREntry.SentBody.none)
    XCTAssertEqual(try sent(#""method":"GET","bodySize":0"#), HAREntry.SentBody.none)
    XCTAssertEqual(try sent(#""method":"GET","bodySize":1"#), .unknown)
    XCTAssertEqual(try sent(#""method":"POST""#), .unknown)
    XCTAssertEqual(
      try sent(#""method":"POST","bodySize":3,"postData":{"mimeType":"a/b","text":"Zoë"}"#), .text("Zoë", type: "a/b"))
    XCTAssertEqual(try sent(#""method":"PUT","bodySize":5,"postData":{"text":"\u0000\u009f"}"#), .unknown)
    XCTAssertEqual(try sent(#""method":"POST","bodySize":5,"postData":{"text":"a\ufffd"}"#), .unknown)
    XCTAssertEqual(try sent(#""method":"PUT","bodySize":5,"postData":{"text":""}"#), .unknown)
    XCTAssertEqual(try sent(#""method":"PUT","bodySize":0,"postData":{"text":""}"#), HAREntry.SentBody.none)
  }

  func test_datesOfAllPrograms() {
    let date = Date(timeIntervalSince1970: 1_795_544_859)
    for text in [
      "2026-11-24T18:27:39Z", "2026-11-24T18:27:39.000+00:00", "2026-11-24T19:27:39+01:00", "2026-11-24T18:27:39",
      "2026-11-24T18:27:39.000000000Z",
    ] { XCTAssertEqual(HARDate.date(text), date, text) }
    for text in ["", "yesterday", "2026-13-01T00:00:00Z", String(repeating: "2", count: 1_000_000)] {
      XCTAssertNil(HARDate.date(text))
    }
    XCTAssertEqual(HARDate.text(Date(timeIntervalSince1970: 1_795_544_859.133)), "2026-11-24T18:27:39.133Z")
    let texts = [
      (Date.distantFuture, "4001-01-01T00:00:00.000Z"), (.distantPast, "0000-12-30T00:00:00.000Z"),
      (Date(timeIntervalSince1970: -12_219_379_200), "1582-10-14T00:00:00.000Z"),
      (Date(timeIntervalSince1970: -0.000_4), "1970-01-01T00:00:00.000Z"),
      (Date(timeIntervalSince1970: 0.999_6), "1970-01-01T00:00:01.000Z"),
      (Date(timeIntervalSince1970: -1e12), "0000-01-01T00:00:00.000Z"),
      (Date(timeIntervalSince1970: 1e12), "9999-12-31T23:59:59.999Z"),
    ]
    for (date, text) in texts { XCTAssertEqual(HARDate.text(date), text) }
  }

  func test_entriesAreInTheOrderOfTheirDates() throws {
    func entry(_ path: String, _ date: String?) -> String {
      let member = date.map { #","startedDateTime":"\#($0)""# } ?? ""
      return #"{"request":{"method":"GET","url":"http://h/\#(path)"},"response":{"status":200}\#(member)}"#
    }
    let list = [
      entry("b", "2026-11-24T18:27:40Z"), entry("c", nil), entry("a", "2026-11-24T18:27:39Z"), entry("d", "invalid"),
    ]
    XCTAssertEqual(try read(list.joined(separator: ",")).map(\.url.last), ["a", "d", "b", "c"])
  }

  func test_secretsOfMessagesAndEvents_areHidden() throws {
    let binary = Data(#"{"token":"abc"}"#.utf8).base64EncodedString()
    let image = Data([0xFF, 0x00, 0x01]).base64EncodedString()
    var entry = HAREntry(method: "GET", url: "wss://h/", status: 101)
    entry.messages = [
      (1, #"{"token":"abc"}"#), (2, binary), (2, image), (2, "?token=abc"), (2, ""), (9, "token=abc"),
    ].map { HAREntry.Message(isSent: false, time: 0, opcode: $0, data: $1) }
    entry.events = [HAREntry.Event(time: 0, name: "a token=abc", id: "token=abc", data: "token=abc")]
    let hidden = entry.redacted(.standard)
    XCTAssertEqual(
      hidden.messages.map(\.data),
      [#"{"token":"***"}"#, Data(#"{"token":"***"}"#.utf8).base64EncodedString(), "", "", "", "token=***"])
    XCTAssertEqual(hidden.events.map { [$0.name, $0.id, $0.data] }, [["a token=***", "token=***", "token=***"]])
    XCTAssertEqual(hidden.redacted(.standard), hidden, "a second time changes nothing")
    XCTAssertEqual(entry.redacted(.none), entry)
  }

  func test_timesOfMessagesInMilliseconds() throws {
    let entry = try entry(
      response: #"{"status":101}"#,
      rest: #","_webSocketMessages":[{"time":1795544859133,"data":"a"},{"time":1795544859.133,"data":"b"}]"#)
    XCTAssertEqual(entry.messages.map(\.time), [1_795_544_859.133, 1_795_544_859.133])
  }

  func test_invalidArchivesAreRefusedWithTheReason() throws {
    func reason(_ bytes: Data) -> String {
      do {
        _ = try HARReader.entries(in: bytes)
        return "none"
      } catch { return error.reason }
    }
    let valid = Data(#"{"log":{"entries":[]}}"#.utf8)
    XCTAssertEqual(reason(Data([0xEF, 0xBB, 0xBF]) + valid), "none")
    XCTAssert(reason(valid.dropLast(3)).contains("19"), reason(valid.dropLast(3)))
    XCTAssert(reason(Data("{}".utf8)).contains("log.entries"))
    XCTAssert(
      reason(Data(#"{"log":{"entries":[\#(String(repeating: "7,", count: HARReader.maxEntries))7]}}"#.utf8))
        .contains("100000 entries"))
    // Each way of reading accepts the maximum: entry by entry, and the whole of an archive whose keys are escaped.
    for key in ["entries", #"entrie\u0073"#] {
      for (count, expected) in [
        (HARReader.maxEntries, "none"), (HARReader.maxEntries + 1, "it has more than 100000 entries"),
      ] {
        let list = Array(repeating: "7", count: count).joined(separator: ",")
        XCTAssertEqual(reason(Data(#"{"log":{"\#(key)":[\#(list)]}}"#.utf8)), expected, "\(key) \(count)")
      }
    }
    XCTAssertThrowsError(try HARReader.entries(of: URL(filePath: "/nowhere.har"))) {
      XCTAssertEqual(($0 as? NetworkError)?.kind, .file)
    }
  }
}
