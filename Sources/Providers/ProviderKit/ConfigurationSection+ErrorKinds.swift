package import BrokerProtocol
package import ConfigurationFile
import JSON

extension ConfigurationSection {
  /// Reads the meanings of a provider's own error names, one a member of this section.
  ///
  /// - Parameter possible: what a name can mean.
  /// - Returns: the names that mean one of these; every other one is a mistake.
  package func errorKinds(among possible: [ErrorKind]) -> [String: ErrorKind] {
    let words = possible.map(\.rawValue)
    var kinds: [String: ErrorKind] = [:]
    for (name, node) in namedMembers() {
      let word = (try? node.string()) ?? ""
      if words.contains(word), let kind = ErrorKind(rawValue: word) {
        kinds[name] = kind
      } else {
        let meant = word.isEmpty ? nil : Spelling.nearest(to: word, among: words)
        report(
          name, "must be one of \(words.map { "\"\($0)\"" }.joined(separator: ", "))",
          meant.map { "did you mean \"\($0)\"?" })
      }
    }
    return kinds
  }
}
