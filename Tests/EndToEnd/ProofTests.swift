import JSON
import TestSupport
import Testing

/// Tokens that are bound to a key, at a server that demands proofs of it and verifies them by a library of its own (RFC
/// 9449).
@Suite(.standardTimeLimit) struct ProofTests {
  /// A server that demands proofs, and a broker whose profile has a session there.
  private static func run(
    _ options: [String] = [], _ profile: String = "", logsIn: Bool = true,
    _ body: @escaping @Sendable (ProofStage) throws -> Void
  ) async throws {
    try await Sandbox.run { sandbox in
      let settings = (["dpop=required"] + options).flatMap { ["--set", $0] }
      let backend = try OIDCBackend(sandbox, settings)
      let arguments = try backend.configure(sandbox, "dpop: true, " + profile)
      let stage = ProofStage(
        sandbox: sandbox, backend: backend, arguments: arguments, owner: try sandbox.owner(arguments))
      if logsIn { try backend.logIn(try SocketWire(sandbox.socket)) }
      try body(stage)
    }
  }

  @Test(arguments: [[], ["dpopNonceUses=1"], ["dpopNonceUses=5"], ["dpopNonceUses=1", "dpopRefusalStatus=403"]])
  func `a session has one key, and each request its own proof`(_ options: [String]) async throws {
    try await Self.run(options) { stage in
      let wire = try SocketWire(stage.sandbox.socket)
      let first = try wire.call("getAccessToken")
      #expect(try first.required("tokenType").string() == "DPoP")
      let next = try wire.call("getAccessToken", #"{"forceRefresh":true}"#)
      #expect(try next.required("tokenType").string() == "DPoP")
      #expect(try next.required("tokenId").string() != first.required("tokenId").string())
      #expect(try wire.call("getCurrentUser", #"{"maxAgeSeconds":0}"#).required("id").string() != "")
      #expect(try stage.callsAPI(wire))
      #expect(try Set(stage.keys()).count == 1)
      try stage.expectNothingSpentTwice()
    }
  }

  @Test func `the key outlives a kill and a new vault key`() async throws {
    try await Self.run(["dpopNonceUses=1"]) { stage in
      stage.sandbox.bury(stage.owner)
      let owner = try stage.sandbox.owner(stage.arguments)
      var wire = try SocketWire(stage.sandbox.socket)
      _ = try wire.call("getAccessToken", #"{"forceRefresh":true}"#)
      let rekeyed = try stage.sandbox.command("rekey")
      #expect(rekeyed.code == 0, "\(rekeyed.errors)")
      _ = try wire.call("getAccessToken", #"{"forceRefresh":true}"#)
      stage.sandbox.bury(owner)
      _ = try stage.sandbox.owner(stage.arguments)
      wire = try SocketWire(stage.sandbox.socket)
      _ = try wire.call("getAccessToken", #"{"forceRefresh":true}"#)
      #expect(try stage.callsAPI(wire))
      #expect(try Set(stage.keys()).count == 1)
      try stage.expectNothingSpentTwice()
    }
  }

  @Test(arguments: [3600, -3600])
  func `a clock that is wrong is corrected once, and the next proofs are right at once`(_ ahead: Int) async throws {
    try await Self.run { stage in
      let wire = try SocketWire(stage.sandbox.socket)
      // The times of its ID tokens stay those of this machine.
      try stage.backend.set(#"{"clockAheadSeconds":\#(ahead)}"#)
      for _ in 1...2 { _ = try wire.call("getAccessToken", #"{"forceRefresh":true}"#) }
      #expect(try stage.callsAPI(wire))
      #expect(try stage.refusals() == ["it is of another time"])
    }
  }

  @Test func `a proof that is never accepted is a fault of the configuration, and costs no session`() async throws {
    try await Self.run { stage in
      let wire = try SocketWire(stage.sandbox.socket)
      // No proof is of the right time.
      try stage.backend.set(#"{"dpopToleranceSeconds":-1}"#)
      let before = try stage.refusals().count
      #expect(try wire.refusal("getAccessToken", #"{"forceRefresh":true}"#) == "providerRejected")
      #expect(try stage.refusals().count == before + 1, "the clocks agree: there is nothing to correct")
      try stage.backend.set(#"{"dpopToleranceSeconds":60}"#)
      let isBack = try Patience.wait { try wire.refusal("getAccessToken", #"{"forceRefresh":true}"#) == nil }
      #expect(isBack)
      try stage.expectNothingSpentTwice()
    }
  }

  @Test func `a server that binds no tokens is told from one that does`() async throws {
    try await Self.run(["dpopTokenType=Bearer"], logsIn: false) { stage in
      let wire = try SocketWire(stage.sandbox.socket)
      #expect(throws: (any Error).self) { try stage.backend.logIn(wire) }
      #expect(try wire.call("getSession").required("state").string() == "signedOut")
    }
  }

  @Test func `a session keeps its key although the setting goes, and gets one where it comes`() async throws {
    try await Self.run { stage in
      let wire = try SocketWire(stage.sandbox.socket)
      _ = try stage.backend.configure(stage.sandbox)
      _ = try wire.call("reloadConfig")
      let kept = try wire.call("getAccessToken", #"{"forceRefresh":true}"#)
      #expect(try kept.required("tokenType").string() == "DPoP")
      #expect(try stage.callsAPI(wire))
      #expect(try Set(stage.keys()).count == 1)
      // A session that was begun without a key is bound by its next tokens.
      try stage.backend.set(#"{"dpop":"off"}"#)
      _ = try wire.call("logout")
      try stage.backend.logIn(wire)
      #expect(try wire.call("getAccessToken").required("tokenType").string() == "Bearer")
      try stage.backend.set(#"{"dpop":"required"}"#)
      _ = try stage.backend.configure(stage.sandbox, "dpop: true,")
      _ = try wire.call("reloadConfig")
      let bound = try wire.call("getAccessToken", #"{"forceRefresh":true}"#)
      #expect(try bound.required("tokenType").string() == "DPoP")
      #expect(try stage.callsAPI(wire))
    }
  }

  @Test func `each session has a key of its own`() async throws {
    try await Self.run { stage in
      let wire = try SocketWire(stage.sandbox.socket)
      _ = try wire.call("logout")
      try stage.backend.logIn(wire)
      #expect(try Set(stage.keys()).count == 2)
    }
  }
}

/// A broker, and the server that its profile has a session at.
struct ProofStage {
  let sandbox: Sandbox
  let backend: OIDCBackend
  let arguments: [String]
  let owner: Program

  /// The keys of the proofs that were accepted, in order.
  func keys() throws -> [String] {
    try backend.entries().compactMap { try $0["proof"]?.required("key").string() }
  }

  /// Why requests were refused, without the demands for a nonce.
  func refusals() throws -> [String] {
    try backend.entries().compactMap { try $0["refusal"]?.string() }.filter { $0 != "another nonce is wanted" }
  }

  /// No refresh token is accepted twice.
  func expectNothingSpentTwice() throws {
    let spent = try backend.tokenRequests().filter { try $0.required("status").integer() == 200 }
      .compactMap { try $0["refreshToken"]?.string() }
    #expect(Set(spent).count == spent.count, "\(spent)")
  }

  /// Whether a client with nothing but the broker's answers is let in where tokens are taken.
  func callsAPI(_ wire: SocketWire) throws -> Bool {
    let token = try wire.call("getAccessToken")
    let (url, id) = (backend.issuer + "/userinfo/", try token.required("tokenId").string())
    var nonce = ""
    for _ in 1...2 {
      let wanted = nonce.isEmpty ? "" : #","nonce":"\#(nonce)""#
      let proof = try wire.call("createProof", #"{"tokenId":"\#(id)","method":"GET","url":"\#(url)?a=b"\#(wanted)}"#)
      let script = """
        import sys, urllib.error, urllib.request
        url, token, proof = sys.stdin.read().split()
        request = urllib.request.Request(url, headers={"Authorization": "DPoP " + token, "DPoP": proof})
        try:
            print(urllib.request.urlopen(request).status, end="")
        except urllib.error.HTTPError as error:
            print(error.headers.get("DPoP-Nonce", ""), end="")
        """
      let input = [url, try token.required("accessToken").string(), try proof.required("proof").string()]
      let done = try sandbox.run("/usr/bin/env", ["python3", "-c", script], input: input.joined(separator: "\n"))
      if done.output == "200" { return true }
      nonce = done.output
      if nonce.isEmpty { return false }
    }
    return false
  }
}
