import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// The address that a browser on another machine ended at.
@Suite(.standardTimeLimit) struct BroughtRedirectTests {
  private static let announced = #","authorization_response_iss_parameter_supported":true"#

  private static func bring(
    _ text: String, _ visit: BrowserVisit, _ provider: OIDCProvider, is expected: RedirectFault?
  ) throws {
    let address = try secret(text)
    var fault: RedirectFault?
    do throws(RedirectFault) { try provider.takeRedirect(address, flow: visit.action.flow) } catch { fault = error }
    #expect(fault == expected, "\(text)")
  }

  @Test(arguments: ["whole", "query", "question mark", "wrapped", "fragment"])
  func `an address serves as the browser would have`(_ form: String) async throws {
    let (result, requests) = try await loginInBrowser { visit, provider in
      let place = visit.query["redirect_uri"] ?? ""
      let query = "code=c%2B1&state=\(visit.state)"
      let text =
        switch form {
        case "query": query
        case "question mark": "?" + query
        case "wrapped": " \(place)?code=c%2B\n 1&state=\(visit.state) \r\n"
        case "fragment": "\(place)?\(query)#_=_"
        default: "\(place)?\(query)"
        }
      try Self.bring(text, visit, provider, is: nil)
    }
    #expect(throws: Never.self) { try result.get() }
    #expect(requests.map { $0.form["code"] } == ["c+1"])
  }

  @Test func `what is not the login's address is told why, and spends nothing`() async throws {
    let (result, requests) = try await loginInBrowser(metadata: Self.announced) { visit, provider in
      let (place, state) = (visit.query["redirect_uri"] ?? "", visit.state)
      let issuer = "&iss=" + provider.dialect.issuer.replacing("/", with: "%2F")
      let other = String(state.reversed())
      let rows: [(String, RedirectFault)] = [
        ("c+1", .noAddress), ("", .noAddress), ("no address at all", .noAddress), (place, .noAddress),
        ("\(place)?code=%zz&state=\(state)", .noAddress), ("\(place)?code=a&code=b&state=\(state)", .noAddress),
        (visit.action.verificationURI, .otherPlace), ("https://evil.example/?code=c&state=\(state)", .otherPlace),
        ("\(place)x?code=c&state=\(state)\(issuer)", .otherPlace),
        ("\(place)?code=c&state=\(other)\(issuer)", .otherLogin), ("error=access_denied&state=\(other)", .otherLogin),
        ("\(place)?code=c&state=\(state)", .otherIssuer),
        ("\(place)?code=c&state=\(state)&iss=https%3A%2F%2Fevil.example", .otherIssuer),
        ("\(place)?error=access_denied&state=\(state)&iss=https%3A%2F%2Fevil.example", .otherIssuer),
        ("\(place)?code=c", .incomplete), ("\(place)?code=c&state=\(state.dropLast(3))", .incomplete),
        ("\(place)?state=\(state)\(issuer)", .incomplete),
      ]
      for (text, fault) in rows { try Self.bring(text, visit, provider, is: fault) }
      try Self.bring("\(place)?code=c&scope=a&scope=b&state=\(state)\(issuer)", visit, provider, is: nil)
      // A second one comes too late.
      try Self.bring("\(place)?code=d&state=\(state)\(issuer)", visit, provider, is: nil)
    }
    #expect(throws: Never.self) { try result.get() }
    #expect(requests.map { $0.form["code"] } == ["c"])
  }

  @Test func `the provider's refusal ends the login with its reason`() async throws {
    let (result, requests) = try await loginInBrowser { visit, provider in
      try Self.bring("error=access_denied&state=\(visit.state)", visit, provider, is: nil)
    }
    #expect(throws: ProviderFailure.refused(.consentDenied)) { try result.get() }
    #expect(requests.isEmpty)
  }

  @Test func `an address that comes before the login is awaited is not lost`() async throws {
    try await withProvider(answer: twoTokens) { provider, server in
      let action = try #require(try await provider.login(Credentials(method: .browser)).action)
      let visit = try BrowserVisit(action)
      try Self.bring("code=early&state=\(visit.state)", visit, provider, is: nil)
      _ = try await provider.awaitRedirect(flow: action.flow)
      #expect(server.requests(at: "/token").map { $0.form["code"] } == ["early"])
    }
  }
}
