public import JSON

/// What the description of the protocol says of a method beyond its types.
///
/// It stands in the method's own file and is made only where it is asked for: by who writes `Schemas/openrpc.json`, and
/// by a broker that is asked for the document.
public struct MethodDocument: Sendable {
  /// One request and its answer.
  public struct Example: Sendable {
    /// What it shows, in a few words.
    public var name: String
    /// The parameters by their names, each as JSON text.
    public var params: KeyValuePairs<String, String>
    /// The result, as JSON text.
    public var result: String

    public init(_ name: String, _ params: KeyValuePairs<String, String> = [:], result: String) {
      self.name = name
      self.params = params
      self.result = result
    }

    /// An example of a method with an empty result.
    public static func empty(_ name: String, _ params: KeyValuePairs<String, String> = [:]) -> Example {
      Example(name, params, result: "{}")
    }
  }

  /// What it is for, in one sentence.
  public var summary: String
  /// What else its callers must know.
  public var details: String?
  /// What the result is called.
  public var resultName: String
  /// What the result is like, where its type says too little.
  public var resultSchema: JSONSchema?
  /// What it may answer instead, beside ``ErrorKind/everywhere``.
  public var errors: [ErrorKind]
  /// At least one.
  public var examples: [Example]

  public init(
    _ summary: String, details: String? = nil, result resultName: String = "empty",
    schema resultSchema: JSONSchema? = nil,
    errors: [ErrorKind] = [], examples: [Example]
  ) {
    self.summary = summary
    self.details = details
    self.resultName = resultName
    self.resultSchema = resultSchema
    self.errors = errors
    self.examples = examples
  }
}
