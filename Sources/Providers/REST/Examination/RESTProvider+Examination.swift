import BrokerCore
package import BrokerProtocol
import HTTP
import ProviderKit

/// The examination of a backend.
extension RESTProvider {
  /// A path that no backend has: its answer there is the one for missing paths.
  private static let nowhere = "/authbroker-check/no-such-path"

  /// Asks for the user without a token, and asks every other path for its methods.
  ///
  /// `GET` and `OPTIONS` are safe (RFC 9110, section 9.2.1), none has a body, and no user's credential goes along; the
  /// client's password is only looked for.
  package func examine() async -> [ProviderFinding] {
    await examineBackend() + [await publicCaller.secret().map { .secret("clientSecret", $0) }].compactMap(\.self)
  }

  private func examineBackend() async -> [ProviderFinding] {
    let maker = publicCaller.maker
    let user = await ProbeExchange(maker.probe, publicCaller.transport, clock: clock)
    let found = user.probe("baseUrl").findings
    guard case .success(let response) = user.result, !found.contains(where: { $0.level == .failure }) else {
      return found
    }
    let userFinding = mapping.endpoints[.currentUser].map { UserPathReview(response, path: $0.path).finding }
    let paths = await PathReview(statuses(), nowhere: status(of: Self.nowhere)).findings
    return found + [userFinding].compactMap(\.self) + paths
  }

  /// Asks each path with `OPTIONS`; nil where nothing came back.
  private func statuses() async -> [PathReview.Path] {
    var paths: [PathReview.Path] = []
    // One after the other, on one connection where the backend keeps it: a check is no load test.
    for name in RESTEndpoint.Name.allCases where name != .currentUser {
      guard let endpoint = mapping.endpoints[name] else { continue }
      paths.append(.init(name: name, path: endpoint.path, status: await status(of: endpoint.path)))
      // A backend that does not answer one is not asked for the others, each of which might take as long.
      if paths.last?.status == nil { break }
    }
    return paths
  }

  private func status(of path: String) async -> Int? {
    guard let url = try? publicCaller.maker.baseURL.appending(path: path) else { return nil }
    return try? await publicCaller.transport.send(HTTPRequest(.options, url)).status
  }
}
