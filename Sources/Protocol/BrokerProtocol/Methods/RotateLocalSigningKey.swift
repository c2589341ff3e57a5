/// Makes a new key for access tokens of the embedded provider; the one before verifies what it has signed.
public enum RotateLocalSigningKey: BrokerMethod {
  public static let name = "rotateLocalSigningKey"
  public typealias Params = Empty

  /// The key set after the change.
  public typealias Result = GetLocalKeySet.Result
}

extension RotateLocalSigningKey {
  public static var document: MethodDocument {
    MethodDocument(
      "Makes a new key for access tokens of the embedded provider, and returns the key set with it.",
      details: "A key that signs no more stays in the set until every token that it signed has expired.",
      result: "keySet",
      errors: ErrorKind.ofDirectory,
      examples: [
        .init(
          "two keys", result: #"{"keys": [\#(SampleJSON.newLocalKey), \#(SampleJSON.localKey)]}"#)
      ])
  }
}
