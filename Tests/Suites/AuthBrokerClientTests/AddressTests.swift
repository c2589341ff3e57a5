import BrokerProtocol
import JSON
import SecretMemory
import Synchronization
import TestSupport
import Testing

@testable import AuthBrokerClient

/// The token of an address, by the cases that all packages share (Schemas/addresses.json).
@Suite(.standardTimeLimit) struct AddressTests {
  private static func shared(_ name: String) throws -> [JSONNode] {
    let bytes = try Repository.bytes("Schemas/addresses.json")
    return try JSONDocument(parsing: bytes).root.required(name).elements()
  }

  /// A request that is expected, and the answer.
  private struct Exchange {
    let method: String
    let params: String
    let result: String?
    let error: String?

    init(_ node: JSONNode) throws {
      method = try node.required("method").string()
      params = AddressTests.text(try node.required("params"))
      result = node["result"].map(AddressTests.text)
      error = node["error"].map(AddressTests.text)
    }
  }

  /// The text of a value without the blanks between its parts.
  private static func text(_ node: JSONNode) -> String {
    String(decoding: node.text, as: UTF8.self).replacing(": ", with: ":").replacing(", ", with: ",")
  }

  @Test func `which prefix covers an address`() throws {
    for one in try Self.shared("coverage") {
      let (prefix, address) = (try one.required("prefix").string(), try one.required("address").string())
      let covers = try one.required("covers").bool()
      #expect(GrantedTarget(prefix: prefix).covers(address) == covers, "\(prefix) \(address)")
    }
  }

  @Test func `the requests are those of the other packages, and what is used of their answers`() async throws {
    for one in try Self.shared("questions") {
      let name = try one.required("name").string()
      let exchanges = try one.required("exchanges").elements().map(Exchange.init)
      let asked = Mutex<[String]>([])
      let client = try ScriptedBroker.client { wire in
        var left = exchanges[...]
        while let request = wire.read() {
          let params = request["params"].map(Self.text) ?? ""
          asked.withLock { $0.append("\(ScriptedBroker.method(request)) \(params)") }
          let next = left.popFirst()
          let outcome = next?.result.map { #""result":\#($0)"# } ?? #""error":\#(next?.error ?? "{}")"#
          wire.write(#"{"jsonrpc":"2.0","id":\#(ScriptedBroker.id(request)),\#(outcome)}"# + "\n")
        }
      }
      let url = try one.required("url").string()
      do {
        let token = try await client.accessToken(for: url)
        #expect(token.accessToken.revealedString() == (try one.required("token").string()), "\(name)")
        #expect(token.profile.description == (try one.required("profile").string()), "\(name)")
        #expect(token.target == (try GrantedTarget(from: one.required("target"))), "\(name)")
        #expect(token.authorizationHeader == (try one.required("authorization").string()), "\(name)")
        #expect(token.headerName == (try one["header"]?.string()) ?? "Authorization", "\(name)")
      } catch ClientError.broker(let error) {
        #expect(error.kind.rawValue == (try one["error"]?.string()), "\(name): \(error)")
      }
      await client.close()
      #expect(asked.withLock(\.self) == exchanges.map { "\($0.method) \($0.params)" }, "\(name)")
    }
  }

  @Test(arguments: [true, false])
  func `a refused token of an address is reported by its name`(_ hasAnother: Bool) async throws {
    let token = #""accessToken":"ID","expiresAt":null,"scopes":[],"profile":"work","tokenId":"ID""#
    let target = #","target":{"prefix":"https://a.example","scheme":"Basic"}"#
    let reports = Mutex<[String]>([])
    let client = try ScriptedBroker.client { wire in
      while let request = wire.read() {
        let isReport = ScriptedBroker.method(request) == "reportRejected"
        if isReport { reports.withLock { $0.append(request["params"].map(Self.text) ?? "") } }
        let id = isReport && hasAnother ? "two" : "one"
        wire.answer(request, "{\(token.replacing("ID", with: id))\(isReport ? "" : target)}")
      }
    }
    let seen = Mutex<[String]>([])
    let use: @Sendable (AccessToken) async throws -> String = { token in
      seen.withLock { $0.append(token.authorizationHeader) }
      guard token.tokenID == "two" else { throw Unauthorized(status: 403, challenge: "Bearer") }
      return token.tokenID
    }
    if hasAnother {
      #expect(try await client.withAccessToken(for: "https://a.example/x", use) == "two")
      #expect(seen.withLock(\.self) == ["Basic b2F1dGgyOm9uZQ==", "Basic b2F1dGgyOnR3bw=="])
    } else {
      await #expect(throws: Unauthorized.self) { try await client.withAccessToken(for: "https://a.example/x", use) }
      #expect(seen.withLock(\.count) == 1, "the same token would be refused again")
    }
    #expect(reports.withLock(\.self) == [#"{"profile":"work","tokenId":"one","status":403,"challenge":"Bearer"}"#])
    await client.close()
  }
}
