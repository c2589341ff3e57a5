import AuthBrokerClient
import TestSupport
import Testing

/// The library as the guide shows it: one import, and no access to what is not public.
@Suite(.standardTimeLimit) struct LibraryExampleTests {
  // The guide's example begins here.
  /// Lists the orders, and says what to do where a login is required.
  static func listOrders(_ broker: BrokerClient, _ server: some OrderServer) async throws -> String {
    do {
      return try await broker.withAccessToken(profile: "shop", scopes: ["orders:read"]) { token in
        let response = try await server.get("/orders", headers: ["Authorization": token.authorizationHeader])
        if response.status == 401 { throw Unauthorized() }
        return response.body
      }
    } catch ClientError.broker(let error) where error.nextAction == .login {
      return "run: authbroker login -p shop"
    } catch ClientError.noBroker(let reason) {
      return "no broker: \(reason)"
    }
  }
  // The guide's example ends here.

  /// A program's own HTTP client.
  protocol OrderServer: Sendable {
    func get(_ path: String, headers: [String: String]) async throws -> (status: Int, body: String)
  }

  /// Answers 200 to one token and 401 to every other.
  struct Server: OrderServer {
    let accepted: String

    func get(_ path: String, headers: [String: String]) async throws -> (status: Int, body: String) {
      headers["Authorization"] == "Bearer \(accepted)" ? (200, "two orders") : (401, "")
    }
  }

  private static func result(_ token: String, _ id: String) -> String {
    #"""
    {"accessToken":"\#(token)","tokenType":"Bearer","expiresAt":null,"scopes":["orders:read"],"profile":"shop",\#
    "tokenId":"\#(id)"}
    """#
  }

  /// A broker that gives an old token, and a new one for what is reported.
  private static func broker() throws -> BrokerClient {
    try ScriptedBroker.client { wire in
      while let request = wire.read() {
        let isReport = ScriptedBroker.method(request) == "reportRejected"
        let isRight = ScriptedBroker.parameter("tokenId", of: request) == "1"
        wire.answer(request, result(isReport && isRight ? "new" : "old", isReport ? "2" : "1"))
      }
    }
  }

  @Test(arguments: ["old", "new"])
  func `a refused token is replaced once`(_ accepted: String) async throws {
    #expect(try await Self.listOrders(try Self.broker(), Server(accepted: accepted)) == "two orders")
  }

  @Test func `a server that refuses every token ends with that`() async throws {
    let broker = try Self.broker()
    await #expect(throws: Unauthorized()) { try await Self.listOrders(broker, Server(accepted: "none")) }
  }

  @Test func `an error of the broker is caught by what it asks for`() async throws {
    let broker = try ScriptedBroker.client { wire in
      wire.refuse(wire.read(), 1001, #"{"kind":"loginRequired","nextAction":"login","retryable":false}"#)
      wire.refuse(wire.read(), 1060, #"{"kind":"vaultLocked","nextAction":"unlock","retryable":false}"#)
    }
    #expect(try await Self.listOrders(broker, Server(accepted: "old")) == "run: authbroker login -p shop")
    let error = await #expect(throws: ClientError.self) { try await Self.listOrders(broker, Server(accepted: "old")) }
    guard case .broker(let refusal)? = error else {
      Issue.record("not the broker's error")
      return
    }
    #expect(refusal.kind == .vaultLocked)
  }

  @Test func `a token prints no secret and its header has it`() async throws {
    let token = try await Self.broker().accessToken(profile: "shop")
    #expect(token.authorizationHeader == "Bearer old")
    #expect(!String(describing: token).contains("old") && !String(reflecting: token).contains("old"))
    let secret: Secret = token.accessToken
    #expect(secret.revealedString() == "old")
  }

  @Test func `the guide shows the example as it is compiled`() throws {
    let source = String(
      decoding: try Repository.bytes("Tests/Suites/AuthBrokerClientTests/LibraryExampleTests.swift"), as: UTF8.self)
    let guide = String(
      decoding: try Repository.bytes("Sources/Command/authbroker/AuthBroker.docc/Guides/SwiftPrograms.md"),
      as: UTF8.self)
    let parts = source.split(separator: "  // The guide's example ", maxSplits: 2)
    let example = try #require(parts.dropFirst().first).split(separator: "\n").dropFirst().map { $0.dropFirst(2) }
    #expect(guide.contains(example.joined(separator: "\n").replacing("static func", with: "func")))
  }
}
