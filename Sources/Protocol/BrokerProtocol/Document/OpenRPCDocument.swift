#if !hasFeature(Embedded)
internal import JSON

/// The description of the protocol as an OpenRPC document (https://spec.open-rpc.org, version 1.3.2).
///
/// It is made from the types themselves: their members from the walk that also writes and reads them, the rest from
/// ``SchemaNotes`` and ``MethodDocument``, which stand beside them.
public enum OpenRPCDocument {
  /// The whole document as JSON text on one line, made when it is first asked for.
  public static let text: [UInt8] = {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("openrpc", "1.3.2")
      writer.key("info")
      writeInfo(to: &writer)
      writer.key("methods")
      writer.array { writer in
        for method in Methods.all { write(method, to: &writer) }
      }
      writer.key("components")
      writeComponents(to: &writer)
    }
    return writer.bytes
  }()

  private static func writeInfo(to writer: inout JSONWriter) {
    let kinds = ErrorKind.everywhere.map { $0.rawValue }
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

  private static func write<Method: BrokerMethod>(_ method: Method.Type, to writer: inout JSONWriter) {
    let document = Method.document
    writer.object { writer in
      writer.member("name", Method.name)
      writer.member("summary", document.summary)
      writer.member(ifPresent: "description", document.details)
      writer.member("paramStructure", "by-name")
      writer.key("params")
      writer.array { writer in
        for member in Method.Params.schemaMembers { write(member, to: &writer) }
      }
      writer.key("result")
      writer.object { writer in
        writer.member("name", document.resultName)
        writer.member("schema", document.resultSchema ?? Method.Result.schema)
      }
      writer.key("errors")
      writer.array { writer in
        for kind in document.errors { writeReference(to: kind, to: &writer) }
      }
      writer.key("examples")
      writer.array { writer in
        for example in document.examples { write(example, of: document, to: &writer) }
      }
    }
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

  private static func write(
    _ example: MethodDocument.Example, of document: MethodDocument, to writer: inout JSONWriter
  ) {
    writer.object { writer in
      writer.member("name", example.name)
      writer.key("params")
      writer.array { writer in
        for (name, value) in example.params { write(name, value, to: &writer) }
      }
      writer.key("result")
      write(document.resultName, example.result, to: &writer)
    }
  }

  /// Writes a name and a value that is JSON text already.
  private static func write(_ name: String, _ value: String, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("name", name)
      writer.key("value")
      writer.raw(compacting: value.utf8)
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
    BrokerError.schema.collectNamed(into: &named)
    return named
  }

  private static func collectNamed<Method: BrokerMethod>(
    of _: Method.Type, into named: inout [(name: String, schema: JSONSchema)]
  ) {
    for member in Method.Params.schemaMembers { member.schema.collectNamed(into: &named) }
    Method.Result.schema.collectNamed(into: &named)
  }
}
#endif
