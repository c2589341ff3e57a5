import BrokerProtocol
import JSONRPC
import RESTDialect

/// How a mapping is written in a configuration.
extension RESTMapping {
  private static let encodingSetting = ChoiceSetting("encoding", standard: standard.encoding)
  private static let clientAuthenticationSetting = ChoiceSetting(
    "clientAuth", standard: standard.clientAuthentication)
  private static let resendSetting = ChoiceSetting("resendStrategy", standard: standard.resendStrategy)
  private static let revokeSetting = ChoiceSetting("revokeStyle", standard: standard.revokeStyle)

  /// Reads the section; what is not said is as in the standard mapping.
  ///
  /// - Throws: ``ConfigurationError`` at the first wrong value or unknown key.
  init(_ section: inout ConfigurationSection) throws(ConfigurationError) {
    self = .standard
    encoding = try section.read(Self.encodingSetting)
    clientAuthentication = try section.read(Self.clientAuthenticationSetting)
    var endpointsSection = try section.section("endpoints")
    for name in RESTEndpoint.Name.allCases {
      endpoints[name] = try Self.endpoint(name, &endpointsSection)
    }
    try endpointsSection.refuseUnknownKeys()
    var replySection = try section.section("reply")
    for member in RESTReplyPaths.Member.allCases {
      if let paths = try Self.paths(member.rawValue, &replySection) { reply[member] = paths }
    }
    try replySection.refuseUnknownKeys()
    var errorsSection = try section.section("errors")
    if let code = try Self.paths("code", &errorsSection) { errors.code = code }
    errors.kinds = try Self.kinds(&errorsSection)
    try errorsSection.refuseUnknownKeys()
    resendStrategy = try section.read(Self.resendSetting)
    revokeStyle = try section.read(Self.revokeSetting)
    try section.refuseUnknownKeys()
  }

  /// An endpoint; nil where the backend has none.
  private static func endpoint(
    _ name: RESTEndpoint.Name, _ section: inout ConfigurationSection
  ) throws(ConfigurationError) -> RESTEndpoint? {
    guard let node = section.value(name.rawValue) else { return .standard(name) }
    guard !node.isNull else { return nil }
    let path = section.name(of: name.rawValue)
    var endpoint = try ConfigurationSection(node, path: path, context: section.context)
    return try RESTEndpoint(name, &endpoint)
  }

  /// One path, or a list of them; nil where the key is absent.
  private static func paths(
    _ key: String, _ section: inout ConfigurationSection
  ) throws(ConfigurationError) -> [RESTPath]? {
    guard let node = section.value(key) else { return nil }
    let expectation = #"must be the way to a member, such as "tokens.access", or a list of such texts"#
    let nodes = node.kind == .array ? (try? node.elements()) ?? [] : [node]
    let paths = nodes.compactMap { (try? $0.string()).flatMap { RESTPath(reading: $0) } }
    guard !paths.isEmpty, paths.count == nodes.count else { throw section.failure(key, expectation) }
    return paths
  }

  private static func kinds(
    _ section: inout ConfigurationSection
  ) throws(ConfigurationError) -> [String: ErrorKind] {
    let kindsSection = try section.section("kinds")
    var kinds: [String: ErrorKind] = [:]
    for (name, node) in kindsSection.namedMembers() {
      guard let kind = (try? node.string()).flatMap(ErrorKind.init(rawValue:)),
        RESTErrorMapping.possibleKinds.contains(kind)
      else {
        let words = RESTErrorMapping.possibleKinds.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        throw section.context.failure(at: node, kindsSection.name(of: name), "must be one of \(words)")
      }
      kinds[name] = kind
    }
    return kinds
  }
}
