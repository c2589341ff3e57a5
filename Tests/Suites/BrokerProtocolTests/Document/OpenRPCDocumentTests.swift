import BrokerProtocol
import BrokerServer
import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// `Schemas/openrpc.json` is what the types say of themselves.
@Suite(.standardTimeLimit) struct OpenRPCDocumentTests {
  private struct Unwritable: Error {}

  /// Whether the file is to be written, not compared: `make schemas` sets it.
  private static let isWriting = getenv("AUTHBROKER_WRITE_SCHEMAS") != nil

  @Test func `the file is the document of the types; make schemas writes it`() throws {
    let document = try JSONDocument(parsing: OpenRPCDocument.text())
    let text = Array(try JSONLayout.text(of: document.root).utf8)
    if Self.isWriting { try write(text) }
    #expect(try SchemaFile.bytes("openrpc.json") == text, "make schemas")
  }

  @Test func `the document is one line, as framing by lines needs it`() throws {
    let text = try OpenRPCDocument.text()
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

  @Test func `every method and every member is described`() throws {
    let document = try SchemaFile.document("openrpc.json").root
    for method in try document.required("methods").elements() {
      let name = try method.required("name").string()
      for part in try [method] + method.required("params").elements() {
        #expect(try part["summary"]?.string().isEmpty == false, "\(name)")
      }
    }
    let components = try document.required("components").required("schemas").members()
    for (name, schema) in components where !Self.plain.contains(name) {
      for (member, described) in try schema["properties"]?.members() ?? [] where described["$ref"] == nil {
        #expect(described["description"] != nil, "\(name).\(member)")
      }
    }
  }

  /// What is written by hand is described by hand, where its names do not say all.
  private static let plain: Set = ["AccessToken", "IdToken", "Error", "ErrorData", "ProviderTrialState"]

  @Test func `every file of examples is that of a method`() throws {
    let names = try TemporaryDirectory.names(in: "\(Repository.root)/Schemas/examples")
    #expect(Set(names) == Set(Methods.all.map { "\($0.name).json" }))
  }

  @Test func `the errors of a method are told once, and none that every method has`() {
    for method in Methods.all {
      let errors = OpenRPCDocument.errors(of: method)
      #expect(Set(errors).count == errors.count, "\(method.name)")
      #expect(Set(errors).isDisjoint(with: MethodErrors.everywhere), "\(method.name)")
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
        let possible = (OpenRPCDocument.errors(of: method) + MethodErrors.everywhere).map(\.rawValue)
        #expect(possible.contains(kind), "\(name): \(method.name)")
      }
    }
  }
}
