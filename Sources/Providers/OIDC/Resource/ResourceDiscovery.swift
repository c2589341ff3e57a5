package import HTTP
import TextCoding

/// Finds the authorization servers of a protected resource (RFC 9728).
///
/// Only the resource's own server is asked, no redirect is followed, and no credential is sent.
package struct ResourceDiscovery: Sendable {
  private static let wellKnown = "/.well-known/oauth-protected-resource"

  /// Why nothing was found: one sentence in lower case, with what to do.
  package struct Failure: Error, Equatable {
    /// The message for the user.
    package let message: String
    /// Whether the server was not reached, or has a trouble that passes.
    package let isPassing: Bool
    /// Why the server was not reached; nil where it was.
    package let cause: HTTPFailure?

    /// A reason.
    package init(message: String, isPassing: Bool, cause: HTTPFailure? = nil) {
      self.message = message
      self.isPassing = isPassing
      self.cause = cause
    }
  }

  /// The outcome of asking one address.
  private enum Document {
    case found(ResourceMetadata)
    case absent
    case refused(ResourceMetadata.Refusal)
  }

  private let transport: PublicTransport

  /// Discovery over a transport.
  package init(_ transport: PublicTransport) { self.transport = transport }

  /// The address of a resource's document: the well-known part stands before its path (RFC 9728, section 3.1).
  static func address(of resource: HTTPURL) -> HTTPURL? {
    let target = resource.target
    let rest = target == "/" ? "" : target.hasPrefix("/?") ? String(target.dropFirst()) : target
    return try? HTTPURL(resource.origin + wellKnown + rest)
  }

  /// The metadata of a resource: from the document that it names where it refuses a request without a token, else that of
  /// its own address, else that of its server.
  ///
  /// - Parameter address: the address of the resource.
  /// - Returns: the metadata; with the scopes of the refusal, where that names some (RFC 6750, section 3).
  /// - Throws: `Failure`.
  package func metadata(of address: String) async throws(Failure) -> ResourceMetadata {
    guard let resource = try? HTTPURL(address) else {
      throw Failure(
        message:
          "the address of a resource must be https:// and a host (http:// on this machine alone), without a fragment",
        isPassing: false)
    }
    var refusal: ResourceMetadata.Refusal?
    var asked: Set<HTTPURL> = []
    func found(at url: HTTPURL?) async throws(Failure) -> ResourceMetadata? {
      guard let url, asked.insert(url).inserted else { return nil }
      switch try await read(url, for: resource) {
      case .found(let metadata): return metadata
      case .absent: return nil
      case .refused(let reason):
        refusal = refusal ?? reason
        return nil
      }
    }
    let challenge = await challenge(of: resource)
    let named = challenge?.parameters["resource_metadata"].flatMap { try? HTTPURL($0) }
    // A document of another server could name any authorization server for this one.
    let own = named.flatMap { $0.origin == resource.origin ? $0 : nil }
    for url in [own, Self.address(of: resource), try? HTTPURL(resource.origin + Self.wellKnown)] {
      guard var metadata = try await found(at: url) else { continue }
      let scopes = challenge?.parameters["scope"]?.split(separator: " ").map(String.init) ?? []
      if !scopes.isEmpty, scopes.allSatisfy(ResourceMetadata.isScope) {
        (metadata.scopes, metadata.hasRefusalsScopes) = (scopes, true)
      }
      return metadata
    }
    throw failure(refusal, resource, isForeign: named != nil && own == nil)
  }

  private func failure(_ refusal: ResourceMetadata.Refusal?, _ resource: HTTPURL, isForeign: Bool) -> Failure {
    let what: String =
      switch refusal {
      case .otherResource(let name): "its metadata are those of \(name.prefix(200)); name that resource"
      case .noIssuer: "its metadata name no authorization server that can be used; name the issuer with --issuer"
      case .malformed: "its metadata cannot be read; name the issuer with --issuer"
      case nil where isForeign:
        "its metadata are on another server, which is not trusted for it; name the issuer with --issuer"
      case nil: "it names no authorization server (RFC 9728); name the issuer with --issuer"
      }
    return Failure(message: "\(resource.origin): \(what)", isPassing: false)
  }

  /// The challenge of a resource that refuses a request without a token; nil where it has none, or no answer.
  private func challenge(of resource: HTTPURL) async -> BearerChallenge? {
    guard let response = try? await send(resource), response.status == 401 else { return nil }
    return BearerChallenge(response.fields("www-authenticate"))
  }

  private func read(_ url: HTTPURL, for resource: HTTPURL) async throws(Failure) -> Document {
    let response = try await send(url)
    guard response.status == 200 else {
      guard Discovery.isAbsent(response.status) || (300..<400).contains(response.status) else {
        throw Failure(message: "\(url.origin) answers with the status \(response.status); try again", isPassing: true)
      }
      return .absent
    }
    return response.body.withArray { bytes in
      do throws(ResourceMetadata.Refusal) {
        return .found(try ResourceMetadata(bytes, from: url, for: resource))
      } catch { return .refused(error) }
    }
  }

  private func send(_ url: HTTPURL) async throws(Failure) -> HTTPResponse {
    do throws(HTTPFailure) {
      let fields = [try HTTPField("Accept", "application/json")]
      return try await transport.send(HTTPRequest(.get, url, fields: fields, purpose: "discovery"))
    } catch {
      throw Failure(
        message: "\(url.origin) cannot be asked: \(error.description)", isPassing: true, cause: error)
    }
  }
}
