import BrokerCore
import BrokerProtocol
import ProviderKit
import SecretMemory

/// Decides the meaning of a request to the loopback address for the login that is waited for.
///
/// Any page that a user visits can make the user's browser send requests here. So nothing but an answer with the right
/// state ends the wait, and nothing but this very address is answered at all (DNS rebinding).
struct RedirectJudge: Sendable {
  /// The verdict on a request.
  enum Verdict: Sendable {
    /// It is answered, and the wait goes on.
    case keepWaiting(RedirectPage)
    /// The browser has brought a code.
    case code(Secret)
    /// The provider has refused, another server has answered in its place, or none has in time.
    case ended(ProviderFailure)
  }

  /// The login that is waited for.
  let flow: RedirectFlow
  /// The dialect of the provider.
  let dialect: OIDCDialect

  /// The longest code: longer ones come from no provider.
  private static let longestCode = 8192

  /// Judges a complete request.
  func judge(_ request: RedirectRequest) -> Verdict {
    guard request.host == flow.address.authority(port: flow.port) else { return .keepWaiting(.misdirected) }
    guard request.path == flow.address.path else { return .keepWaiting(.notFound) }
    guard request.method == "GET" else { return .keepWaiting(.wrongMethod) }
    guard var values = request.values() else { return .keepWaiting(.notThisLogin) }
    defer { for name in values.keys { wipe(&values[name, default: []]) } }
    do throws(RedirectFault) { return try answer(values) } catch {
      // Who knows the state, and is another provider, has taken the place of this one.
      return error == .otherIssuer ? .ended(.refused(.invalidResponse)) : .keepWaiting(.notThisLogin)
    }
  }

  /// Judges the address that the browser of a user ended at, or its query.
  ///
  /// - Returns: what the login goes on with.
  /// - Throws: why it is not this login's.
  func judge(_ address: [UInt8]) throws(RedirectFault) -> Verdict {
    let address = address.prefix { $0 != UInt8(ascii: "#") }
    let mark = address.firstIndex(of: UInt8(ascii: "?"))
    let place = address[..<(mark ?? address.startIndex)]
    guard place.isEmpty || place.elementsEqual(flow.redirectURI.utf8) else { throw .otherPlace }
    guard var values = RedirectRequest.values(of: mark.map { address[($0 + 1)...] } ?? address) else {
      throw .noAddress
    }
    defer { for name in values.keys { wipe(&values[name, default: []]) } }
    // Who types the code alone, or gives the address of the login's beginning, has none of these.
    guard ["code", "error", "state"].contains(where: { values[$0] != nil }) else { throw .noAddress }
    return try answer(values)
  }

  /// The verdict that the values of a query end the wait with.
  private func answer(_ values: [String: [UInt8]]) throws(RedirectFault) -> Verdict {
    guard let state = values["state"], state.count >= flow.state.utf8.count else { throw .incomplete }
    guard isState(state) else { throw .otherLogin }
    // Some providers name themselves only beside a code; nothing is sent to anybody for an error.
    guard isIssuer(values["iss"]) || (values["iss"] == nil && values["error"] != nil) else { throw .otherIssuer }
    if let error = values["error"] { return .ended(Self.failure(error, dialect)) }
    guard let code = values["code"], (1...Self.longestCode).contains(code.count),
      code.allSatisfy({ (0x20...0x7E).contains($0) })
    else { throw .incomplete }
    guard let secret = try? Secret(copying: code.span) else { return .ended(.transient(.overloaded)) }
    return .code(secret)
  }

  /// Whether it is this login's state, compared in constant time.
  private func isState(_ said: [UInt8]) -> Bool {
    let own = Array(flow.state.utf8)
    guard said.count == own.count else { return false }
    return zip(said, own).reduce(into: 0 as UInt8) { $0 |= $1.0 ^ $1.1 } == 0
  }

  /// Whether the issuer is the provider's own, or is missing from a provider that does not promise to name it.
  private func isIssuer(_ said: [UInt8]?) -> Bool {
    guard let said else { return !flow.namesIssuer }
    return IssuerCheck(dialect).isOwn(metadata: String(decoding: said, as: UTF8.self))
  }

  /// The failure for an error (RFC 6749, section 4.1.2.1; OpenID Connect Core, section 3.1.2.6).
  private static func failure(_ error: [UInt8], _ dialect: OIDCDialect) -> ProviderFailure {
    let code = String(decoding: error, as: UTF8.self)
    let refusal = Refusal(status: 400, form: .json, code: dialect.quirks.errorNames[code] ?? code)
    return refusal.failure(.code)
  }
}
