import BrokerProtocol
import ConfigurationFile
import JSON
import ProviderKit

/// Reading a mapping from a configuration.
extension RESTMapping {
  private static let encodingSetting = ChoiceSetting("encoding", standard: standard.encoding)
  private static let clientAuthenticationSetting = ChoiceSetting(
    "clientAuth", standard: standard.clientAuthentication)
  private static let resendSetting = ChoiceSetting("resendStrategy", standard: standard.resendStrategy)
  private static let revokeSetting = ChoiceSetting("revokeStyle", standard: standard.revokeStyle)

  /// Reads the section; what is not said is as in the standard mapping.
  init(_ section: inout ConfigurationSection) {
    self = .standard
    encoding = section.read(Self.encodingSetting)
    clientAuthentication = section.read(Self.clientAuthenticationSetting)
    var endpointsSection = section.section("endpoints")
    for name in RESTEndpoint.Name.allCases {
      endpoints[name] = Self.endpoint(name, &endpointsSection)
    }
    endpointsSection.finish()
    var replySection = section.section("reply")
    for member in RESTReplyPaths.Member.allCases {
      if let paths = Self.paths(member.rawValue, &replySection) { reply[member] = paths }
    }
    replySection.finish()
    var errorsSection = section.section("errors")
    if let code = Self.paths("code", &errorsSection) { errors.code = code }
    errors.kinds = errorsSection.section("kinds").errorKinds(among: RESTErrorMapping.possibleKinds)
    errorsSection.finish()
    resendStrategy = section.read(Self.resendSetting)
    revokeStyle = section.read(Self.revokeSetting)
    section.finish()
  }

  /// An endpoint; nil where the backend has none.
  private static func endpoint(_ name: RESTEndpoint.Name, _ section: inout ConfigurationSection) -> RESTEndpoint? {
    if section.value(name.rawValue)?.isNull == true { return nil }
    guard section.has(name.rawValue) else { return .standard(name) }
    var endpoint = section.section(name.rawValue)
    return RESTEndpoint(name, &endpoint)
  }

  /// One path, or a list of them; nil where the key is absent or faulty.
  private static func paths(_ key: String, _ section: inout ConfigurationSection) -> [RESTPath]? {
    guard let node = section.value(key) else { return nil }
    let nodes = node.kind == .array ? (try? node.elements()) ?? [] : [node]
    let paths = nodes.compactMap { (try? $0.string()).flatMap { RESTPath(reading: $0) } }
    if paths.contains(where: { $0.cookie != nil }), key != RESTReplyPaths.Member.refreshToken.rawValue {
      section.report(key, "cannot be in a cookie: only refreshToken can")
      return nil
    }
    if !paths.isEmpty, paths.count == nodes.count { return paths }
    section.report(key, #"must be the path of a member, such as "tokens.access", or a list of such strings"#)
    return nil
  }
}
