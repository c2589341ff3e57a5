package import BrokerCore
import BrokerProtocol
import HTTP
import LinuxSystem
import RemoteProvider

/// Whether the services can be reached.
extension FirebaseProvider {
  /// Reads the service's address without a key: any answer is a good one.
  package func probe() async -> ProviderProbe {
    let url = caller.url(.signInWithPassword)
    var request = HTTPRequest(.get, url, deadline: .interactive)
    request.delivery = .once
    let host = String(url.origin.dropFirst(url.scheme.rawValue.utf8.count + "://".utf8.count))
    let place = ProviderProbe.Place(host: host, usesTLS: url.scheme == .https)
    let (sentAt, start) = (clock(), BootClock.now)
    do throws(HTTPFailure) {
      let response = try await caller.transport.send(request)
      let roundTrip = BootClock.now - start
      let date = response.date(now: clock().milliseconds / 1000).map { ClockSkew.serverTime($0.secondsSince1970) }
      let skew = date.map { ClockSkew.between($0, sentAt: sentAt, roundTrip: roundTrip) }
      return ProviderProbe(place, .answered(status: response.status, roundTrip: roundTrip, clockSkew: skew))
    } catch {
      return ProviderProbe(place, .failed(ProviderFailure(error), advice: error.advice("baseUrl")))
    }
  }
}
