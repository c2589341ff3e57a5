import BrokerProtocol
import JSON

/// Decides which parameters that the broker does not know are named in the log.
///
/// A name may be a secret that was sent in the wrong place. So it is told only where a method takes no secret at all,
/// and only a few are told over all connections: a client that invents names fills neither the log nor the memory.
///
/// A value: it writes nothing and reads no clock.
struct IgnoredParameters {
  /// What is told.
  enum Verdict: Equatable {
    /// The name, cut to ``nameBytes``.
    case name(String)
    /// That there is one.
    case withoutName
    /// Nothing: this connection was told of before. Another parameter of it may be told.
    case again
    /// Nothing, of no parameter.
    case nothing
  }

  /// Enough for a program that is being written; a client in production misspells nothing.
  static let namesPerHour = 16
  /// No parameter of the contract is longer than half of this.
  static let nameBytes = 64

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
  ///   - name: as it was sent.
  ///   - method: whose parameter it is.
  ///   - known: what was told of the connection before.
  ///   - now: the uptime.
  /// - Returns: what is to be written.
  mutating func note(
    _ name: String, of method: String, knownTo known: inout Set<String>, at now: Duration
  ) -> Verdict {
    if now >= hourEnd {
      hourEnd = now + Self.hour
      told = 0
    }
    guard told < Self.namesPerHour, known.count < Self.namesPerHour else { return .nothing }
    let isPlain = Self.plainMethods.contains(method)
    // A method's name holds no blank, so that it is no parameter's.
    let word = isPlain ? String(decoding: name.utf8.prefix(Self.nameBytes), as: UTF8.self) : "method \(method)"
    guard known.insert(word).inserted else { return isPlain ? .again : .nothing }
    told += 1
    return isPlain ? .name(word) : .withoutName
  }
}
