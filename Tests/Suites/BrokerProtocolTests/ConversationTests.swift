import BrokerProtocol
import JSON
import TestSupport
import Testing

/// The golden conversations keep the format that their README describes.
@Suite(.standardTimeLimit) struct ConversationTests {
  static let names = [
    "ping-and-errors", "register-login-otp-token-logout", "subscribe-refresh", "session-ended", "lock-unlock",
    "pending-logins", "login-refresh-logout", "refresh-refused", "two-factor-login", "resent-and-backup-codes",
    "account",
  ]
  /// The lines for players alone, besides those with JSON.
  private static let instructions = ["code outbox", "token outbox", "rest backup code", "proof"]

  private func lines(_ name: String) throws -> [Substring] {
    let bytes = try SchemaFile.bytes("conversations/\(name).jsonl")
    #expect(bytes.last == 0x0A)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }

  @Test(arguments: names)
  func `every line is of a known kind`(_ name: String) throws {
    var hasBegun = false
    for line in try lines(name) {
      let rest = line.dropFirst(2)
      switch line.prefix(2) {
      case "# ": break
      case "> ": hasBegun = true
      case "< ":
        #expect(hasBegun)
        _ = try JSONDocument(String(rest))
      case "= ":
        if let prefix = ["config ", "rest settings "].first(where: { rest.hasPrefix($0) }) {
          #expect(!hasBegun)
          #expect(try JSONDocument(String(rest.dropFirst(prefix.count))).root.kind == .object)
        } else {
          #expect(Self.instructions.contains(String(rest)))
        }
      default: Issue.record("\(line)")
      }
    }
    #expect(hasBegun)
  }

  @Test(arguments: names)
  func `a name is bound before it is used`(_ name: String) throws {
    var bound: Set<Substring> = []
    for line in try lines(name) {
      let used = line.split(separator: "\"<$").dropFirst().compactMap { $0.split(separator: ">").first }
      if line.hasPrefix("= code") { bound.formUnion(["code", "wrongCode"]) }
      if line.hasPrefix("= token") { bound.insert("token") }
      if line.hasPrefix("< ") { bound.formUnion(used) }
      if line.hasPrefix("> ") { for name in used { #expect(bound.contains(name), "\(name)") } }
    }
  }

  @Test(arguments: names)
  func `with a REST backend there is a profile that can be on it`(_ name: String) throws {
    let lines = try lines(name)
    guard lines.contains(where: { $0.hasPrefix("= rest ") }) else { return }
    #expect(lines.contains { $0.hasPrefix("= rest settings ") })
    let configurations = lines.filter { $0.hasPrefix("= config ") }
    #expect(configurations.count == 1)
    #expect(configurations.allSatisfy { $0.contains(#""provider":"local""#) })
  }

  @Test(arguments: names)
  func `errors have the code and the advice of their kind`(_ name: String) throws {
    for line in try lines(name) where line.hasPrefix("< {") {
      guard let error = try JSONDocument(String(line.dropFirst(2))).root["error"] else { continue }
      let data = try error.required("data")
      let kind = try #require(ErrorKind(rawValue: try data.required("kind").string()))
      #expect(try error.required("code").integer() == Int64(kind.code))
      #expect(try data.required("nextAction").string() == kind.nextAction.rawValue)
      #expect(try data.required("retryable").bool() == kind.isRetryable)
    }
  }
}
