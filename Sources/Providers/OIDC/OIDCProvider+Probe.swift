package import BrokerCore
import BrokerProtocol
import HTTP
import LinuxSystem
import OIDCDialect
import RemoteProvider

/// Whether the provider can be reached.
extension OIDCProvider {
  /// Asks once for what the provider says of itself, or, where that is not read, at the token endpoint, which refuses.
  package func probe() async -> ProviderProbe {
    var request = HTTPRequest(.get, discovery.firstDocument)
    request.delivery = .once
    let place = ProviderProbe.Place(host: request.url.authority, usesTLS: request.url.scheme == .https)
    let (sentAt, start) = (clock(), BootClock.now)
    do throws(HTTPFailure) {
      let response = try await caller.transport.send(request)
      let roundTrip = BootClock.now - start
      let date = response.date(now: clock().milliseconds / 1000).map { ClockSkew.serverTime($0.secondsSince1970) }
      let skew = date.map { ClockSkew.between($0, sentAt: sentAt, roundTrip: roundTrip) }
      return ProviderProbe(place, .answered(status: response.status, roundTrip: roundTrip, clockSkew: skew))
    } catch {
      return ProviderProbe(place, .failed(ProviderFailure(error), advice: error.advice(addressSetting)))
    }
  }

  /// The setting that says where the provider is.
  private var addressSetting: String { dialect.usesDiscovery ? "issuer" : "endpoints.token" }
}

extension HTTPURL {
  /// The host, with the port where it is not the scheme's own (RFC 3986, section 3.2).
  fileprivate var authority: String { String(origin.dropFirst(scheme.rawValue.utf8.count + "://".utf8.count)) }
}
