import JSON
import LinuxSystem
import StateDirectory
import TestSupport
import Testing

/// Several requests on one connection to a door: each is judged by what holds at its time.
@Suite(.standardTimeLimit) struct DoorConnectionTests {
  /// A connection that is kept.
  private final class Kept {
    let stage: DoorStage
    let connection: FileDescriptor

    init(_ stage: DoorStage) throws {
      self.stage = stage
      connection = try stage.connect()
    }

    /// Sends a request, and reads the answer, which has a length; the status.
    func ask(_ path: String = "/service/status/200", method: String = "GET") throws -> Int {
      let host = stage.url.hasPrefix("unix:") ? "door" : stage.host
      try connection.sendAll("\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n\(stage.slot)\r\n".utf8.span)
      var answer = ""
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        if let end = answer.firstRange(of: "\r\n\r\n") {
          let fields = answer[..<end.lowerBound].lowercased().split(separator: "\r\n")
          let length = fields.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) } ?? 0
          if answer[end.upperBound...].utf8.count >= length { break }
        }
        guard case .bytes(let count) = connection.read(into: &buffer) else {
          throw TestFailure("the answer breaks off: \(answer)")
        }
        answer += String(decoding: buffer[..<count], as: UTF8.self)
      }
      return Int(answer.dropFirst(9).prefix(3)) ?? 0
    }
  }

  @Test func `what ends the session, locks the vault or changes the rules is seen by the next request`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox, #","port":0"#)
      let client = try Kept(stage)
      func asks(_ status: Int, _ times: Int = 3) throws {
        for _ in 0..<times { #expect(try client.ask() == status) }
      }
      try asks(200)
      try stage.wire.prove()
      _ = try stage.wire.call("lock")
      try asks(503, 1)
      _ = try stage.wire.call("unlock")
      try asks(200)
      _ = try stage.wire.call("logout", #"{"profile":"shop"}"#)
      try asks(502, 1)
      _ = try stage.wire.call("login", DoorStage.account)
      try asks(200)
      // A token that is replaced is not sent any more.
      _ = try stage.wire.call("getAccessToken", #"{"profile":"shop","forceRefresh":true}"#)
      try asks(200)
      #expect(try stage.api.refreshes().count == 1)
      #expect(try client.ask("/service/status/200", method: "POST") == 200)
      _ = try sandbox.configure(Self.readOnly(stage))
      _ = try stage.wire.call("reloadConfig")
      #expect(try client.ask("/service/status/200", method: "DELETE") == 403)
      try asks(200)
      _ = try sandbox.configure(Self.readOnly(stage, path: "/service/echo"))
      _ = try stage.wire.call("reloadConfig")
      #expect(try client.ask() == 403)
      let door = try stage.wire.call("listDoors").required("doors").elements()[0]
      #expect(try door.required("forwarded").integer() == 16, "each that was sent is counted")
    }
  }

  private static func readOnly(_ stage: DoorStage, path: String = "/**") -> String {
    let rule = #"{ origin: "\#(stage.api.url)", paths: ["\#(path)"] }"#
    return
      #"{ profiles: { shop: { provider: "rest", baseUrl: "\#(stage.api.url)", requests: { allow: [\#(rule)] } } } }"#
  }

  @Test func `the audit counts each request, also those for which the broker is not asked`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox, others: #", access: { rules: [{}] }"#)
      let client = try Kept(stage)
      for _ in 0..<40 { #expect(try client.ask() == 200) }
      try stage.wire.prove()
      // What was counted is written at the latest now.
      _ = try stage.wire.call("lock")
      _ = try stage.wire.call("unlock")
      let entries = try stage.wire.call("readAudit").required("entries").elements().filter {
        try $0["method"]?.string() == "openDoor"
      }
      #expect(try entries.map { try $0.required("count").integer() }.reduce(0, +) == 40)
      #expect(entries.count < 10, "they are joined")
    }
  }

  @Test(arguments: [#","port":0"#, ""])
  func `a client that has ended its sending gets its answer`(_ place: String) async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox, place)
      let host = stage.url.hasPrefix("unix:") ? "door" : stage.host
      _ = try stage.api.ask("/misbehave", #"{"name":"hold-before-commit","endpoint":"api"}"#)
      let connection = try stage.connect()
      try connection.sendAll("GET /service/echo HTTP/1.1\r\nHost: \(host)\r\n\(stage.slot)\r\n".utf8.span)
      try connection.finishSending()
      #expect(try Patience.wait { try stage.api.ask("/held").required("held").elements().count == 1 })
      _ = try stage.api.ask("/release", "{}")
      var (answer, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
      while case .bytes(let count) = connection.read(into: &buffer) { answer += buffer[..<count] }
      #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test func `a broker that stops sends nothing by a door that changes something`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox, #","port":0"#)
      #expect(try stage.ask("POST", "/service/status/200").status == 200)
      // The stop waits for the answer of a refresh, and the door is open until then.
      _ = try stage.api.ask("/misbehave", #"{"endpoint":"refresh","name":"hold-after-commit"}"#)
      try stage.wire.send(
        Array(#"{"jsonrpc":"2.0","id":9,"method":"getAccessToken","params":{"forceRefresh":true}}"#.utf8))
      #expect(try Patience.wait { try !stage.api.ask("/held").required("held").elements().isEmpty })
      let owner = try #require(OwnerRecord(at: sandbox.state + "/broker.lock"))
      try Signal.terminate.send(to: owner.pid)
      #expect(try Patience.wait { try stage.ask("POST", "/service/status/200").status == 503 })
      let count = try stage.count
      #expect(try stage.ask("POST", "/service/status/200", body: "more").status == 503)
      #expect(try stage.count == count)
      _ = try stage.api.ask("/release", "{}")
    }
  }

  @Test(arguments: ["+1\r\na\r\n", "0x1\r\na\r\n", "1\na\n", "2\r\na\r\n0\r\n", "1\r\nab\r\n"])
  func `a streamed body that is malformed is answered with 400`(_ chunks: String) async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox, #","port":0"#)
      let answer = try stage.exchange(
        "POST /service/echo HTTP/1.1\r\nHost: \(stage.host)\r\n\(stage.slot)Transfer-Encoding: chunked\r\n\r\n\(chunks)\r\n"
      )
      #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("Connection: close"), "\(answer)")
    }
  }
}
