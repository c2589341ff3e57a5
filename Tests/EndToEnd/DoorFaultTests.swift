import JSON
import LinuxSystem
import TestSupport
import Testing

/// Servers that frame their answers wrongly, behind a door and behind a request: what a client reads has one meaning.
@Suite(.standardTimeLimit) struct DoorFaultTests {
  private static let faults = [
    "length-too-long", "length-too-short", "length-negative", "length-overflow", "length-twice", "length-and-chunked",
    "no-length", "no-length-half", "chunked", "chunked-truncated", "chunked-no-end", "chunked-bad-size",
    "chunked-huge-size", "two-replies", "http10", "http09", "bad-status-line", "status-line-1000", "binary-garbage",
    "http2-preface", "interim-replies", "interim-only", "many-headers", "huge-header", "header-with-controls",
    "folded-header", "set-cookie", "alt-svc", "gzip", "reset-half-way", "close-half-way", "reset-in-headers",
    "close-in-headers", "close-after-reply", "reset-after-reply", "drop-after-commit", "reset-before-reading",
    "status-204-empty", "status-304-empty", "status-401-html", "status-407-html", "status-511-html",
    "redirect-other-origin", "empty-200",
  ]

  /// The whole answers in some bytes, as a strict client reads them, and the rest.
  private static func answers(_ bytes: [UInt8]) -> (whole: [(status: Int, body: [UInt8])], rest: [UInt8]) {
    var (whole, rest): ([(status: Int, body: [UInt8])], ArraySlice<UInt8>) = ([], bytes[...])
    while let (answer, length) = first(in: rest) {
      whole.append(answer)
      rest = rest.dropFirst(length)
    }
    return (whole, Array(rest))
  }

  private static func first(in bytes: ArraySlice<UInt8>) -> ((status: Int, body: [UInt8]), Int)? {
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased().split(separator: "\r\n")
    guard head[0].hasPrefix("http/1.1 "), let status = Int(head[0].dropFirst(9).prefix(3)) else { return nil }
    let fields = head.dropFirst().map { $0.split(separator: ":", maxSplits: 1).map(String.init) }
    let lengths = fields.filter { $0[0] == "content-length" }
    let isChunked = fields.contains { $0[0] == "transfer-encoding" }
    #expect(lengths.count + (isChunked ? 1 : 0) <= 1, "\(head)")
    let start = end.upperBound
    guard isChunked else {
      let hasNone = status == 204 || status == 304
      let count = hasNone ? 0 : lengths.first.flatMap { Int($0[1].filter { $0 != " " }) } ?? 0
      guard bytes.endIndex - start >= count else { return nil }
      return ((status, Array(bytes[start..<(start + count)])), start + count - bytes.startIndex)
    }
    var (body, place): ([UInt8], Int) = ([], start)
    while let line = bytes[place...].firstRange(of: Array("\r\n".utf8)),
      let count = Int(String(decoding: bytes[place..<line.lowerBound], as: UTF8.self), radix: 16)
    {
      let data = line.upperBound
      guard bytes.endIndex - data >= count + 2 else { return nil }
      body += bytes[data..<(data + count)]
      place = data + count + 2
      if count == 0 { return ((status, body), place - bytes.startIndex) }
    }
    return nil
  }

  @Test func `what a server frames wrongly never runs over into the next answer`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox, #","port":0"#)
      let token = try stage.wire.accessToken()
      let head = "Host: \(stage.host)\r\n\(stage.slot)"
      for fault in Self.faults {
        _ = try stage.api.ask("/misbehave", #"{"name":"\#(fault)","endpoint":"api"}"#)
        let bytes = try stage.octets(
          "GET /service/echo HTTP/1.1\r\n\(head)\r\nGET /service/bytes/3 HTTP/1.1\r\n\(head)Connection: close\r\n\r\n")
        let (whole, rest) = Self.answers(bytes)
        // The connection has ended within the first answer, or both are whole.
        switch whole.count {
        case 2: #expect(rest.isEmpty && whole[1].status == 200 && whole[1].body == [0, 1, 2], "\(fault)")
        case 1: #expect(rest.isEmpty && whole[0].status >= 300, "\(fault) \(whole[0].status)")
        default: #expect(whole.isEmpty && rest.starts(with: "HTTP/1.1 ".utf8), "\(fault) \(whole.count)")
        }
        let heads = String(decoding: bytes, as: UTF8.self).lowercased()
        #expect(!heads.contains("set-cookie:") && !heads.contains("alt-svc:"), "\(fault)")
        #expect(!heads.contains("x-token: \(token)") && !heads.hasPrefix("http/1.1 401"), "\(fault)")
      }
      #expect(try stage.wire.call("getSession").required("state").string() == "authenticated")
    }
  }

  @Test func `a request ends with an answer or a clear error, whatever the server sends`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox)
      for fault in Self.faults {
        _ = try stage.api.ask("/misbehave", #"{"name":"\#(fault)","endpoint":"api"}"#)
        let url = stage.api.url + "/service/echo"
        let answer = try stage.wire.answer("sendRequest", #"{"method":"GET","url":"\#(url)"}"#)
        if let error = answer["error"] {
          let kind = try error.required("data").required("kind").string()
          #expect(["invalidResponse", "networkUnavailable", "timeout"].contains(kind), "\(fault) \(kind)")
          #expect(try error.required("message").string().contains(stage.api.url), "\(fault)")
        }
        // It was taken by this request, and the next one is answered.
        let next = try stage.wire.call("sendRequest", #"{"method":"GET","url":"\#(stage.api.url)/service/bytes/3"}"#)
        #expect(try next.required("status").integer() == 200, "\(fault)")
      }
      #expect(try stage.wire.call("getSession").required("state").string() == "authenticated")
    }
  }
}
