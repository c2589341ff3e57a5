import BrokerCore
import BrokerProtocol
import HTTP
import JOSE
import JSON
import ProviderKit
import SecretMemory

/// Finds the members of a reply by the paths of the mapping.
///
/// A reply is foreign input: whatever is in it, reading it gives a value or nothing, and never traps.
struct ReplyReader {
  /// The reply's object.
  let root: JSONNode
  /// The paths of all members.
  let paths: RESTReplyPaths
  /// When it came.
  let moments: ReplyMoments
  /// The reply's header, for a refresh token that lives in a cookie.
  var response: HTTPResponse?

  /// The values of a member that are there and not null, in the order of its paths.
  func values(_ member: RESTReplyPaths.Member) -> [JSONNode] {
    Self.values(at: paths[member], in: root)
  }

  /// The first value of a member.
  func value(_ member: RESTReplyPaths.Member) -> JSONNode? { values(member).first }

  /// The values at paths below a node that are there and not null.
  static func values(at paths: [RESTPath], in node: JSONNode) -> [JSONNode] {
    paths.filter { $0.cookie == nil }.compactMap { path in
      var node: JSONNode? = node
      for name in path.names { node = node?[name] }
      return node.flatMap { $0.isNull ? nil : $0 }
    }
  }

  /// A truth value; a string `true` counts, and so does 1.
  func flag(_ member: RESTReplyPaths.Member) -> Bool? {
    guard let value = value(member) else { return nil }
    if let flag = try? value.bool() { return flag }
    if let number = try? value.integer() { return number == 1 }
    return (try? value.string()).map { $0.lowercased() == "true" }
  }

  /// A whole number in a range; a string with one counts.
  func count(_ member: RESTReplyPaths.Member, in range: ClosedRange<Int>) -> Int? {
    guard let number = value(member).flatMap(NumericDate.number), let count = Int(exactly: number),
      range.contains(count)
    else { return nil }
    return count
  }

  /// A moment on this machine's clock.
  func moment(_ member: RESTReplyPaths.Member) -> Timestamp? {
    value(member).flatMap(NumericDate.moment).map(moments.here)
  }

  /// A string that people will see.
  func text(_ member: RESTReplyPaths.Member) -> String? {
    value(member).flatMap(Self.text)
  }

  /// A string that people will see; nil where nothing is left of it.
  static func text(_ node: JSONNode) -> String? {
    (try? node.string()).flatMap { SanitizedText($0).orNil }
  }

  /// An identifier of the backend's, a string or a whole number, exactly as it is written.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  static func identifier(_ node: JSONNode, longest: Int) throws(SecretMemoryExhausted) -> Secret? {
    switch node.kind {
    case .integer: break
    case .string, .escapedString:
      // `text` has quotes around it.
      guard node.text.count > 2, node.text.count <= longest + 2 else { return nil }
      return try node.foundSecret()
    default: return nil
    }
    var digits = Array(node.text)
    return try Secret(wiping: &digits)
  }
}
