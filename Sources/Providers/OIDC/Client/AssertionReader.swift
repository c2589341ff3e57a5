import BrokerCore
import BrokerProtocol
import ConfigurationFile
import HTTP
import JOSE
import JSON
import ProviderKit
import SecretMemory
import TextCoding

/// Gets assertions from their sources, and looks at their end before they are used.
struct AssertionReader: Sendable {
  /// Finds what is in a file, or what a program prints.
  let secrets: SecretFinder
  /// Sends the request to GitHub's own server, whose certificate is not the provider's.
  let transport: AuthenticatedTransport
  /// The audience where none is configured.
  let issuer: String
  /// The wall clock.
  let clock: OIDCProvider.Clock

  /// The variables that GitHub Actions sets for a job that may have an ID token.
  private static let addressVariable = "ACTIONS_ID_TOKEN_REQUEST_URL"
  private static let tokenVariable = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
  /// The member of GitHub's answer that is the assertion.
  private static let vital = VitalMembers([["value"]])

  /// The assertion as its source has it now.
  ///
  /// - Throws: `.credentialMissing` where there is none, or one that has expired.
  func assertion(_ source: AssertionSource) async throws(ProviderFailure) -> Secret {
    switch source {
    case .reference(let reference):
      let assertion = try await secrets(reference).get()
      try checkEnd(of: assertion, reference.name)
      return assertion
    case .gitHubActions(let audience, let key):
      let job = GitHubJob(key: key)
      let assertion = try await requested(of: job, for: audience ?? issuer)
      try checkEnd(of: assertion, job.name)
      return assertion
    }
  }

  /// Makes sure that an assertion has not expired; one that is no JWT, or names no end, is taken as it is.
  private func checkEnd(of assertion: Secret, _ subject: String) throws(ProviderFailure) {
    guard assertion.byteCount > 0 else { throw .credentialMissing(MissingCredential(subject, "it is empty")) }
    guard let end = UnverifiedToken.span(of: assertion)?.end, end <= clock() else { return }
    throw .credentialMissing(MissingCredential(subject, "it expired at \(end)"))
  }

  /// A job of GitHub Actions as the source of an assertion.
  private struct GitHubJob {
    /// The key of the configuration that names it.
    let key: String
    /// The beginning of a sentence.
    var name: String { "\(key) of GitHub Actions" }
    func missing(_ reason: String) -> ProviderFailure { .credentialMissing(MissingCredential(name, reason)) }
  }

  /// Requests an ID token of the job that the broker runs in.
  private func requested(of job: GitHubJob, for audience: String) async throws(ProviderFailure) -> Secret {
    let address = try await variable(Self.addressVariable, of: job)
    let token = try await variable(Self.tokenVariable, of: job)
    let text = address.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    let joint = text.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
    let response: HTTPResponse
    do throws(HTTPFailure) {
      let url = try HTTPURL(text + joint + "audience=" + PercentEncoding.encoded(audience))
      let accept = try HTTPField("Accept", "application/json")
      let request = HTTPRequest(.get, url, fields: [accept], purpose: "assertion")
      response = try await transport.send(request, bearer: token)
    } catch .invalidURL {
      throw job.missing("\(Self.addressVariable) is no address that is called")
    } catch {
      throw job.missing("its server did not answer (\(ErrorKind(error).rawValue))")
    }
    guard response.status == 200 else { throw job.missing("its server answered with the status \(response.status)") }
    let found = response.body.withArray { bytes -> Result<Secret, SecretMemoryExhausted>? in
      ReplyObject.withRoot(of: bytes, Self.vital) { root in
        do throws(SecretMemoryExhausted) {
          return try root["value"]?.foundSecret().map { .success($0) }
        } catch { return .failure(error) }
      }
    }
    guard let found else { throw job.missing("its server's answer has none") }
    do { return try found.get() } catch { throw .transient(.overloaded) }
  }

  private func variable(_ name: String, of job: GitHubJob) async throws(ProviderFailure) -> Secret {
    guard case .success(let value) = await secrets(SecretReference(job.key, .environment(name))) else {
      throw job.missing(
        "\(name) is not set; the job needs permissions: id-token: write, and must be the one that starts the broker")
    }
    return value
  }
}
