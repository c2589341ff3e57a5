import JSON
import JSONRPC
import TestSupport
import Testing

/// What the broker says of itself.
@Suite(.standardTimeLimit) struct DiscoveryTests {
  @Test(arguments: [Framing.lines, .headers])
  func `the OpenRPC document is one message, and lists exactly the methods that work`(_ framing: Framing) async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let wire = try SocketWire(sandbox.socket, framing)
      let capable = try wire.call("initialize").required("capabilities").required("methods").elements()
      let document = try wire.call("rpc.discover")
      #expect(try Array(JSONLayout.text(of: document).utf8) == SchemaFile.bytes("openrpc.json"))
      let described = try document.required("methods").elements()
      let names = try described.map { try $0.required("name").string() }
      #expect(try Set(names) == Set(capable.map { try $0.string() }))
      #expect(names.count == capable.count)
      #expect(try wire.refusal("noSuchMethod") == "methodNotFound")
    }
  }
}
