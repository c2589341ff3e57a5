import JSON

/// How long an answer is waited for where the caller does not say.
enum AnswerLimit {
  /// More than any method takes by itself.
  private static let usual = Duration.seconds(60)
  /// The program that prints the vault's key may ask a person (`vault.commandTimeoutSeconds`, at most 600), and a whole
  /// vault may be long to look through.
  private static let key = Duration.seconds(660)
  /// A login elsewhere is waited for until it is over, which its provider bounds.
  private static let login = Duration.seconds(3600)
  /// How much longer than the request's own limit its answer is waited for: the broker is on this machine.
  private static let margin = Duration.seconds(5)

  /// The limit of a request: that of its `timeoutSeconds`, if it is longer than the one of its method.
  static func usual(for method: String, _ params: some JSONEncodable) -> Duration {
    let limit =
      switch method {
      case "unlock", "rekey", "checkVault": key
      case "awaitLogin": login
      default: usual
      }
    var writer = JSONWriter()
    params.encode(to: &writer)
    defer { wipe(&writer.bytes) }
    guard let root = try? JSONDocument(parsing: writer.bytes).root,
      let own = try? root.optional("timeoutSeconds", { node throws(JSONMismatch) in try node.seconds() })
    else { return limit }
    return max(limit, own + margin)
  }
}
