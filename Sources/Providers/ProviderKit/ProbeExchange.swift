package import BrokerCore
package import BrokerProtocol
package import HTTP
import LinuxSystem

/// One harmless request to a provider, and its outcome.
package struct ProbeExchange: Sendable {
  /// The address that was asked.
  package let place: ProviderProbe.Place
  /// The answer, or why there is none.
  package let result: Result<HTTPResponse, HTTPFailure>
  /// How long it took.
  package let roundTrip: Duration
  /// How far the provider's clock is ahead, where it says the time.
  package let clockSkew: Duration?

  /// Sends a request once: a second attempt would hide the fault.
  ///
  /// It gets a connection of its own, so that the name, the certificate and the pins are checked again.
  package init(_ request: HTTPRequest, _ transport: PublicTransport, clock: @Sendable () -> Timestamp) async {
    var request = request
    request.delivery = .once
    place = ProviderProbe.Place(host: request.url.authority, usesTLS: request.url.scheme == .https)
    let (sentAt, start) = (clock(), BootClock.now)
    do throws(HTTPFailure) {
      let response = try await transport.send(request)
      roundTrip = BootClock.now - start
      let date = response.date(now: clock().milliseconds / 1000).map { ClockSkew.serverTime($0.secondsSince1970) }
      let roundTrip = roundTrip
      clockSkew = date.map { ClockSkew.between($0, sentAt: sentAt, roundTrip: roundTrip) }
      result = .success(response)
    } catch {
      roundTrip = BootClock.now - start
      clockSkew = nil
      result = .failure(error)
    }
  }

  /// The same as a probe.
  ///
  /// - Parameter address: the setting that says where the provider is.
  /// - Returns: what came of it, without anything that the provider wrote.
  package func probe(_ address: String) -> ProviderProbe {
    switch result {
    case .success(let response):
      ProviderProbe(place, .answered(status: response.status, roundTrip: roundTrip, clockSkew: clockSkew))
    case .failure(let failure):
      ProviderProbe(place, .failed(ProviderFailure(failure), advice: failure.advice(address)))
    }
  }
}

extension HTTPURL {
  /// The host, with the port where it is not the scheme's own (RFC 3986, section 3.2).
  package var authority: String { String(origin.dropFirst(scheme.rawValue.utf8.count + "://".utf8.count)) }
}
