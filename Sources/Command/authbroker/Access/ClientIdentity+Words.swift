import BrokerProtocol

extension ClientIdentity {
  /// The members that are there, each behind its name; what others chose is as they wrote it.
  var words: String {
    let members: [(String, String?)] = [
      ("socket", socket), ("uid", String(uid)), ("unit", unit), ("label", label), ("tool", tool),
    ]
    return members.compactMap { name, value in value.map { "\(name) \($0)" } }.joined(separator: ", ")
  }
}
