import BrokerCore
package import BrokerProtocol
import HTTP
import LinuxSystem
import ProviderKit

/// The examination of a provider.
extension OIDCProvider {
  /// The requested scopes.
  package var requestedScopes: [String] { dialect.scopes }

  /// Reads the provider's metadata, compares them with the profile's needs, looks for the client's password, and finds
  /// out whether the provider knows the client, where it is the one that is meant.
  package func examine() async -> [ProviderFinding] {
    let described = dialect.usesDiscovery ? await examineDocument() : await examineEndpoints()
    let findings = described + [await examineProof()].compactMap(\.self)
    let isMeant = findings.contains { $0.check == "issuer" && $0.level == .ok }
    guard isMeant, !findings.contains(where: { $0.level == .failure }) else { return findings }
    return findings + [await examineClient()].compactMap(\.self)
  }

  /// Reads the provider's metadata, and compares them with the profile's needs.
  func examineDocument() async -> [ProviderFinding] {
    let first = await ProbeExchange(documentRequest(discovery.firstDocument), caller.transport, clock: clock)
    let found = first.probe(addressSetting).findings
    guard case .success(let response) = first.result, !found.contains(where: { $0.level == .failure }) else {
      return found
    }
    switch reading(response, at: discovery.firstDocument) {
    case .success(let description): return found + (await review(await completed(description)))
    case .failure(let problem):
      guard Discovery.isAbsent(response.status) else { return found + [problem.finding] }
      let namesEndpoints = dialect.endpoints[.token] != nil
      // OAuth without OpenID Connect has a document of its own (RFC 8414).
      if let other = await otherDocument(), other.isOwn(dialect) || !namesEndpoints {
        return found + (await review(other))
      }
      return found + (namesEndpoints ? await undescribed : [problem.finding])
    }
  }

  /// A finding that is the reason for having no document.
  private struct Problem: Error {
    let finding: ProviderFinding
  }

  private func review(_ description: ProviderDescription) async -> [ProviderFinding] {
    var review = DescriptionReview(description: description, dialect: dialect, authentication: clientAuthentication)
    if let named = description.issuer, description.isIssuerWhole, !description.isOwn(dialect),
      IssuerSetting.areOfOneHost(named, dialect.issuer)
    {
      review.isIssuerNowhere = await isNowhere(named)
    }
    return review.findings
  }

  /// Whether an issuer has no document, and so is no advice; another host is not asked.
  ///
  /// A failure that may pass, such as a server that does not answer now, is no such sign.
  private func isNowhere(_ issuer: String) async -> Bool {
    guard let place = try? Discovery(OIDCDialect(type: "", issuer: issuer), caller.transport, { BootClock.now }) else {
      return true
    }
    for url in [place.firstDocument] + place.otherDocuments {
      let exchange = await ProbeExchange(documentRequest(url), caller.transport, clock: clock)
      guard case .success(let response) = exchange.result else { return false }
      guard !Discovery.isAbsent(response.status) else { continue }
      // A web page in its place, or the document of another issuer, is not the issuer's document either.
      guard response.status == 200 else { return false }
      if case .success(let found) = reading(response, at: url), found.issuer == issuer { return false }
    }
    return true
  }

  /// The document, completed by the one of RFC 8414 where an endpoint is missing.
  private func completed(_ description: ProviderDescription) async -> ProviderDescription {
    guard OIDCEndpoint.allCases.contains(where: { description.endpoints[$0] == nil }),
      let other = await otherDocument(), other.issuer == description.issuer
    else { return description }
    return description.completed(by: other)
  }

  /// The first document of RFC 8414 that is the provider's own, else the first.
  private func otherDocument() async -> ProviderDescription? {
    var foreign: ProviderDescription?
    for url in discovery.otherDocuments {
      let exchange = await ProbeExchange(documentRequest(url), caller.transport, clock: clock)
      guard case .success(let response) = exchange.result, case .success(let found) = reading(response, at: url) else {
        continue
      }
      guard !found.isOwn(dialect) else { return found }
      foreign = foreign ?? found
    }
    return foreign
  }

  private func documentRequest(_ url: HTTPURL) -> HTTPRequest {
    let accept = try? HTTPField("Accept", "application/json")
    return HTTPRequest(.get, url, fields: accept.map { [$0] } ?? [])
  }

  private func reading(_ response: HTTPResponse, at url: HTTPURL) -> Result<ProviderDescription, Problem> {
    let settings = IssuerSetting(dialect).names
    func problem(_ message: String, _ advice: String) -> Result<ProviderDescription, Problem> {
      .failure(Problem(finding: .init("document", .failure, message, advice: advice, errorKind: .invalidResponse)))
    }
    let place = url.origin + url.target
    switch response.status {
    case 200 where BodyForm(response) == .html:
      return problem(
        "\(place) is a web page, not a discovery document.",
        "Check \(settings), and whether the network requires a login.")
    case 200:
      guard let description = response.body.withArray({ ProviderDescription($0) }) else {
        return problem("\(place) is not a JSON object.", "Check \(settings).")
      }
      return .success(description)
    case 300..<400:
      let target = response.field("location").map { " to " + SanitizedText($0).text } ?? ""
      return problem(
        "\(place) redirects\(target); redirects are not followed.", "Check \(settings), including scheme and slashes.")
    default:
      return problem(
        "There is no discovery document at \(place) (status \(response.status)).",
        "Check \(settings); a provider without one needs its endpoints in the profile's section.")
    }
  }

  /// Examines a provider without metadata: only the token endpoint can be asked.
  private func examineEndpoints() async -> [ProviderFinding] {
    let exchange = await ProbeExchange(HTTPRequest(.get, discovery.firstDocument), caller.transport, clock: clock)
    let found = exchange.probe(addressSetting).findings
    guard !found.contains(where: { $0.level == .failure }) else { return found }
    return found + (await undescribed)
  }

  /// The findings where there is no document, and none is needed.
  private var undescribed: [ProviderFinding] {
    get async {
      let note = ProviderFinding(
        "document", .note, "It has no discovery document; its endpoints come from the configuration.")
      return [note] + (await review(ProviderDescription())).filter { $0.check.hasPrefix("endpoint") }
    }
  }
}
