import BrokerProtocol
import JSON

/// Decides which parameters that the broker does not know are named in the log.
///
/// A name may be a secret that was sent in the wrong place. So it is told only where a method takes no secret at all,
/// and where it looks like a parameter's: letters alone. Of any other no copy is made, and it is told by its place.
/// Only a few are told over all connections: a client that invents names fills neither the log nor the memory.
///
/// A value: it writes nothing and reads no clock.
struct IgnoredParameters {
  /// What is told.
  enum Verdict: Equatable {
    /// The name.
    case name(String)
    /// That there is one, once of a method.
    case withoutName
    /// Nothing: this connection was told of before. Another parameter of it may be told.
    case again
    /// Nothing, of no parameter.
    case nothing
  }

  /// Enough for a program that is being written; a client in production misspells nothing.
  static let namesPerHour = 16
  /// No parameter of the contract is longer, nor has other characters than letters.
  static let nameBytes = 32

  /// The methods that take nothing secret.
  private static let plainMethods = Set(Methods.all.filter { !$0.mayCarrySecret }.map { $0.name })
  private static let hour = Duration.seconds(3600)

  private var hourEnd = Duration.zero
  private var told = 0
  /// What the parameters of each type are called, as far as that was asked: not listed once more for every request.
  private var names: [ObjectIdentifier: [String]] = [:]

  /// The names of the parameters that a type has.
  mutating func names<Params: MethodParams>(of type: Params.Type) -> [String] {
    if let known = names[ObjectIdentifier(type)] { return known }
    let listed = type.members.names
    names[ObjectIdentifier(type)] = listed
    return listed
  }

  /// Decides about one parameter.
  ///
  /// - Parameters:
  ///   - name: as it stands in the message.
  ///   - method: whose parameter it is.
  ///   - known: what was told of the connection before.
  ///   - now: the uptime.
  /// - Returns: what is to be written.
  mutating func note(
    _ name: Span<UInt8>, of method: String, knownTo known: inout Set<String>, at now: Duration
  ) -> Verdict {
    if now >= hourEnd {
      hourEnd = now + Self.hour
      told = 0
    }
    guard told < Self.namesPerHour, known.count < Self.namesPerHour else { return .nothing }
    let isPlain = Self.plainMethods.contains(method)
    // A method's name holds no blank, so that it is no parameter's.
    let word = isPlain && Self.isWord(name) ? String(decoding: Array(copying: name), as: UTF8.self) : nil
    guard known.insert(word ?? "method \(method)").inserted else { return isPlain ? .again : .nothing }
    told += 1
    return word.map { .name($0) } ?? .withoutName
  }

  /// Whether a name could be that of a parameter.
  private static func isWord(_ name: Span<UInt8>) -> Bool {
    name.count <= nameBytes
      && name.indices.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(name[$0] | 0x20) }
  }
}
