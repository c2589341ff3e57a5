import BrokerProtocol
import BrokerServer
import JSON
import TestSupport
import Testing

/// The description of the protocol as an OpenRPC document (https://spec.open-rpc.org, version 1.3.2).
///
/// It is made from the types themselves: their members from the walk that also writes and reads them, the sentences from
/// the comments in their sources, the examples from `Schemas/examples`.
enum OpenRPCDocument {
  /// The whole document as JSON text on one line.
  static func text() throws -> [UInt8] {
    let examples = try Methods.all.map { try SchemaFile.document("examples/\($0.name).json") }
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("openrpc", "1.3.2")
      writer.key("info")
      writeInfo(to: &writer)
      writer.key("methods")
      writer.array { writer in
        for (method, examples) in zip(Methods.all, examples) { write(method, examples, to: &writer) }
      }
      writer.key("components")
      writeComponents(to: &writer)
    }
    return writer.bytes
  }

  /// What a method may answer beside ``MethodErrors/everywhere``: what its comment says that it throws.
  static func errors(of method: any BrokerMethod.Type) -> [ErrorKind] {
    let clause = DocComments.of(method)?.paragraphs.first { $0.hasPrefix("- Throws: ") }
    return (clause?.dropFirst(10).dropLast().split(separator: ", ") ?? []).flatMap { word -> [ErrorKind] in
      if let kinds = MethodErrors.groups[String(word)] { return kinds }
      if let kind = ErrorKind(rawValue: String(word)) { return [kind] }
      Issue.record("\(method.name) throws \(word), which is no kind of error and no group of them")
      return []
    }
  }

  private static func writeInfo(to writer: inout JSONWriter) {
    let kinds = MethodErrors.everywhere.map { $0.rawValue }
    let listed = kinds.dropLast().joined(separator: ", ") + " and " + kinds.suffix(1).joined()
    writer.object { writer in
      writer.member("title", "AuthBroker")
      writer.member("version", Initialize.protocolVersion)
      writer.member(
        "description",
        """
        Every method may also answer \(listed). Params are one object; an absent one, null, [] and {} mean none. Members \
        that are not described here are ignored in params and may come in results.
        """)
      writer.key("license")
      writer.object { writer in writer.member("name", "Apache-2.0") }
    }
  }

  private static func write<Method: BrokerMethod>(
    _ method: Method.Type, _ examples: JSONDocument, to writer: inout JSONWriter
  ) {
    let comments = DocComments.of(method)
    let result = (try? examples.root["result"]?.string()) ?? ""
    writer.object { writer in
      writer.member("name", Method.name)
      writer.member("summary", comments?.summary ?? "")
      let details = comments?.paragraphs.dropFirst().filter { !$0.hasPrefix("- Throws: ") } ?? []
      writer.member(ifPresent: "description", details.isEmpty ? nil : details.joined(separator: " "))
      writer.member("paramStructure", "by-name")
      writer.key("params")
      writer.array { writer in
        for member in SchemaCollector.members(of: Method.Params.self) { write(member, to: &writer) }
      }
      writer.key("result")
      writer.object { writer in
        writer.member("name", result)
        writer.member("schema", schemaOfResult(method))
      }
      writer.key("errors")
      writer.array { writer in
        for kind in errors(of: method) { writeReference(to: kind, to: &writer) }
      }
      writer.key("examples")
      writer.array { writer in
        for example in (try? examples.root["examples"]?.elements()) ?? [] { write(example, result, to: &writer) }
      }
    }
  }

  /// What the answers of a method are like; that of `rpc.discover` passes through unread.
  private static func schemaOfResult<Method: BrokerMethod>(_ method: Method.Type) -> JSONSchema {
    guard Method.name == Discover.name else { return .of(Method.Result.self) }
    return .object([
      .required("openrpc", .text), .required("info", .map(of: .any)),
      .required("methods", .list(of: .map(of: .any))), .optional("components", .map(of: .any)),
    ])
  }

  private static func write(_ parameter: SchemaMember, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("name", parameter.name)
      writer.member(ifPresent: "summary", parameter.description)
      if parameter.presence == .required { writer.member("required", true) }
      writer.key("schema")
      parameter.schema.encode(to: &writer, standard: parameter.standard)
    }
  }

  private static func writeReference(to kind: ErrorKind, to writer: inout JSONWriter) {
    writer.object { writer in writer.member("$ref", "#/components/errors/\(kind.rawValue)") }
  }

  private static func write(_ example: JSONNode, _ result: String, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("name", (try? example["name"]?.string()) ?? "")
      writer.key("params")
      writer.array { writer in
        for (name, value) in (try? example["params"]?.members()) ?? [] { write(name, value, to: &writer) }
      }
      writer.key("result")
      if let value = example["result"] { write(result, value, to: &writer) }
    }
  }

  private static func write(_ name: String, _ value: JSONNode, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("name", name)
      writer.key("value")
      writer.raw(compacting: value.text)
    }
  }

  private static func writeComponents(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.key("schemas")
      writer.object { writer in
        for (name, schema) in namedSchemas { writer.member(name, schema) }
      }
      writer.key("errors")
      writer.object { writer in
        for kind in ErrorKind.allCases { writer.member(kind.rawValue, BrokerError(kind)) }
      }
    }
  }

  /// Every schema that has a name, in the order in which the methods refer to them, and that of errors.
  private static var namedSchemas: [(name: String, schema: JSONSchema)] {
    var named: [(name: String, schema: JSONSchema)] = []
    for method in Methods.all { collectNamed(of: method, into: &named) }
    JSONSchema.of(BrokerError.self).collectNamed(into: &named)
    return named
  }

  private static func collectNamed<Method: BrokerMethod>(
    of _: Method.Type, into named: inout [(name: String, schema: JSONSchema)]
  ) {
    for member in SchemaCollector.members(of: Method.Params.self) { member.schema.collectNamed(into: &named) }
    schemaOfResult(Method.self).collectNamed(into: &named)
  }
}
