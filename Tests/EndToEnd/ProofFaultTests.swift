import JSON
import TestSupport
import Testing

/// A refresh whose proof is refused, with something that goes wrong at each step of it: no session is lost by that, and no
/// refresh token is accepted twice.
@Suite(.standardTimeLimit) struct ProofFaultTests {
  /// Something that goes wrong, and what must come of it.
  struct Row: Sendable, CustomTestStringConvertible {
    /// What goes wrong.
    let name: String
    /// What the server does with the next requests for tokens, one after the other.
    var faults: [String] = []
    /// What is set at the server before the refresh.
    var settings: String?
    /// Whether every nonce is replaced before the refresh.
    var replacesNonces = false
    /// Whether the broker is killed while the request is held.
    var isKilled = false
    /// Whether the session outlives it.
    var survives = true

    var testDescription: String { name }
  }

  private static func fault(_ kind: String, _ more: String = "") -> String {
    #"{"endpoint":"token","kind":"\#(kind)"\#(more)}"#
  }

  private static let demand = fault(
    "answer", #","status":400,"body":{"error":"use_dpop_nonce"},"fields":{"DPoP-Nonce":"n"}"#)
  private static let refusal = fault("answer", #","status":403,"body":{"error":"invalid_dpop_proof"}"#)
  private static let bareDemand = fault("answer", #","status":400,"body":{"error":"use_dpop_nonce"}"#)

  static let rows = [
    Row(name: "the nonce is too old", replacesNonces: true),
    Row(name: "the demand for a nonce is lost", faults: [fault("drop-after-commit")], replacesNonces: true),
    Row(name: "the request is lost before the demand", faults: [fault("drop-before")], replacesNonces: true),
    Row(name: "the broker is killed before the demand", faults: [fault("hold")], replacesNonces: true, isKilled: true),
    Row(name: "the request that follows a demand is lost", faults: [demand, fault("drop-before")]),
    Row(
      name: "the reply that follows a demand is lost, and with it the next token",
      faults: [demand, fault("drop-after-commit")], settings: #"{"dpopNonceUses":0}"#, survives: false),
    Row(name: "demands follow each other", faults: [demand, demand, demand], replacesNonces: true),
    Row(name: "there is no end of demands for a while", faults: (0..<6).map { _ in demand }),
    Row(name: "a demand does not say what it wants", faults: [bareDemand]),
    Row(name: "the clock is wrong", settings: #"{"clockAheadSeconds":3600}"#),
    Row(
      name: "the clock is wrong, and the nonce is too old", settings: #"{"clockAheadSeconds":-3600}"#,
      replacesNonces: true),
    Row(name: "the proof is refused for no reason", faults: [refusal]),
    Row(
      name: "a gateway answers in between", faults: [demand, fault("answer", #","status":503,"body":"""#)]),
  ]

  @Test(arguments: rows) func `a refused proof costs no session`(_ row: Row) async throws {
    try await Sandbox.run { sandbox in
      let options = ["dpop=required", "dpopNonceUses=100", "accessTokenLifetimeSeconds=6"].flatMap { ["--set", $0] }
      let backend = try OIDCBackend(sandbox, options)
      let arguments = try backend.configure(sandbox, "dpop: true, backgroundRefresh: false,")
      let owner = try sandbox.owner(arguments)
      try backend.logIn(try SocketWire(sandbox.socket))
      if row.replacesNonces { try backend.replaceNonces() }
      if let settings = row.settings { try backend.set(settings) }
      for fault in row.faults { try backend.plan(fault) }
      if row.isKilled {
        try Self.kill(owner, arguments, sandbox, backend)
      } else {
        _ = try SocketWire(sandbox.socket).answer("getAccessToken", Self.force)
      }
      let wire = try SocketWire(sandbox.socket)
      let isDecided = try Patience.wait {
        try wire.refusal("getAccessToken", Self.force) == nil
          || wire.call("getSession").required("state").string() == "expired"
      }
      #expect(isDecided)
      #expect(try wire.call("getSession").required("state").string() == (row.survives ? "authenticated" : "expired"))
      let spent = try backend.tokenRequests().filter { try $0.required("status").integer() == 200 }
        .compactMap { try $0["refreshToken"]?.string() }
      #expect(Set(spent).count == spent.count, "\(spent)")
    }
  }

  private static let force = #"{"forceRefresh":true,"timeoutSeconds":5}"#

  /// Kills the broker while the server holds its request, and starts it again when the server has let go.
  private static func kill(
    _ owner: Program, _ arguments: [String], _ sandbox: Sandbox, _ backend: OIDCBackend
  ) throws {
    let wire = try SocketWire(sandbox.socket)
    try wire.send(Array(#"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":\#(force)}"#.utf8))
    let watcher = try SocketWire(sandbox.socket)
    #expect(try Patience.wait { try watcher.call("getSession").required("state").string() == "refreshing" })
    sandbox.bury(owner)
    try backend.forgetFaults()
    _ = try sandbox.owner(arguments)
  }
}
