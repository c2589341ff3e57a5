package import BrokerCore
import BrokerProtocol
import HTTP
import LinuxSystem
import RemoteProvider

/// Whether the backend can be reached.
extension RESTProvider {
  /// Asks once who the user is, without being one: 401 is as good an answer as any.
  package func probe() async -> ProviderProbe { await publicCaller.probe() }
}

extension PublicCaller {
  /// Sends the probe, without the client's password, and once only: a second attempt would hide what is wrong.
  func probe() async -> ProviderProbe {
    let request = maker.probe
    let place = ProviderProbe.Place(host: request.url.authority, usesTLS: request.url.scheme == .https)
    let (sentAt, start) = (clock(), BootClock.now)
    do throws(HTTPFailure) {
      let response = try await transport.send(request)
      let roundTrip = BootClock.now - start
      let date = response.date(now: clock().milliseconds / 1000).map { ClockSkew.serverTime($0.secondsSince1970) }
      let skew = date.map { ClockSkew.between($0, sentAt: sentAt, roundTrip: roundTrip) }
      return ProviderProbe(place, .answered(status: response.status, roundTrip: roundTrip, clockSkew: skew))
    } catch {
      return ProviderProbe(place, .failed(ProviderFailure(error), advice: error.advice("baseUrl")))
    }
  }
}

extension HTTPURL {
  /// The host, with the port where it is not the scheme's own (RFC 3986, section 3.2).
  fileprivate var authority: String { String(origin.dropFirst(scheme.rawValue.utf8.count + "://".utf8.count)) }
}
