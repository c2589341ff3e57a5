internal import JSON

/// Returns the OpenRPC document of exactly the methods that this broker has.
public enum Discover: BrokerMethod {
  /// What a request carries.
  public typealias Params = Empty
  /// What the answer carries.
  public typealias Result = RawJSON

  /// The name on the wire.
  public static let name = "rpc.discover"
}

extension Discover {
  public static var document: MethodDocument {
    MethodDocument(
      "Returns this document.",
      result: "document",
      schema: .object([
        .required("openrpc", .text), .required("info", .map(of: .any)),
        .required("methods", .list(of: .map(of: .any))), .optional("components", .map(of: .any)),
      ]),
      examples: [
        .init(
          "abridged",
          result:
            """
            {"openrpc": "1.3.2", "info": {"title": "AuthBroker", "version": "1"}, "methods": []}
            """)
      ])
  }
}
