import BrokerProtocol
import Glibc
import JSON
import TestSupport
import Testing

/// `Schemas/openrpc.json` is what the types say of themselves.
@Suite(.standardTimeLimit) struct OpenRPCDocumentTests {
  private struct Unwritable: Error {}

  /// Whether the file is to be written, not compared: `make schemas` sets it.
  private static let isWriting = getenv("AUTHBROKER_WRITE_SCHEMAS") != nil

  @Test func `the file is the document of the types; make schemas writes it`() throws {
    let document = try JSONDocument(parsing: OpenRPCDocument.text)
    let text = Array(try JSONLayout.text(of: document.root).utf8)
    if Self.isWriting { try write(text) }
    #expect(try SchemaFile.bytes("openrpc.json") == text, "make schemas")
  }

  @Test func `the document is one line, as framing by lines needs it`() throws {
    let text = OpenRPCDocument.text
    #expect(!text.contains(UInt8(ascii: "\n")))
    var compact = JSONWriter()
    try JSONDocument(parsing: text).root.encode(to: &compact)
    #expect(compact.bytes == text)
  }

  private func write(_ text: [UInt8]) throws {
    guard let file = fopen("\(Repository.root)/Schemas/openrpc.json", "w") else { throw Unwritable() }
    let count = fwrite(text, 1, text.count, file)
    guard fclose(file) == 0, count == text.count else { throw Unwritable() }
  }

  @Test func `every note is of a member that there is`() {
    for method in Methods.all {
      expectNotesOfMembers(method.parameterType)
      if let result = method.resultType as? any ObjectCodable.Type { expectNotesOfMembers(result) }
    }
    let others: [any ObjectCodable.Type] = [
      Initialize.Program.self, Initialize.ProviderType.self, Initialize.Capabilities.self, GetStatus.VaultStatus.self,
      GetStatus.Limit.self, GetStatus.Delivery.self, Initialize.Profile.self, LoginForm.self, FactorEnrolment.self,
      LogoutOutcome.self, ProviderReport.self, ProviderFinding.self, VaultFinding.self,
      OTPChallenge.self, UserAction.self, StateProof.self,
      LocalUser.self, LocalSession.self, LocalMessage.self, JSONWebKey.self, TokenIntrospection.self,
      LocalAuditRecord.self,
    ]
    for type in others { expectNotesOfMembers(type) }
  }

  private func expectNotesOfMembers(_ type: any ObjectCodable.Type) {
    #expect(Set(type.notes.members.keys).isSubset(of: type.members.names), "\(type)")
  }

  @Test func `the errors of a method are told once, and none that every method has`() {
    for method in Methods.all {
      let errors = method.document.errors
      #expect(Set(errors).count == errors.count, "\(method.name)")
      #expect(Set(errors).isDisjoint(with: ErrorKind.everywhere), "\(method.name)")
    }
  }

  @Test func `errors of the golden conversations are those of their methods`() throws {
    for name in ConversationTests.names {
      var methods: [String: String] = [:]
      for line in String(decoding: try SchemaFile.bytes("conversations/\(name).jsonl"), as: UTF8.self).split(
        separator: "\n")
      {
        guard let message = try? JSONDocument(String(line.dropFirst(2))).root, let id = message["id"] else { continue }
        let key = String(decoding: id.text, as: UTF8.self)
        if line.hasPrefix("> ") { methods[key] = try message["method"]?.string() }
        guard line.hasPrefix("< "), let kind = try message["error"]?.required("data").required("kind").string(),
          let method = Methods.all.first(where: { $0.name == methods[key] })
        else { continue }
        let possible = (method.document.errors + ErrorKind.everywhere).map(\.rawValue)
        #expect(possible.contains(kind), "\(name): \(method.name)")
      }
    }
  }
}

extension BrokerMethod {
  fileprivate static var parameterType: any ObjectCodable.Type { Params.self }
  fileprivate static var resultType: Any.Type { Result.self }
}
