import BrokerProtocol
import JSON
import SecretMemory

/// A request of kubectl, or another client of Kubernetes, to an exec plugin, and the answer
/// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins).
struct ExecCredential: Equatable, Sendable {
  /// Why a question cannot be followed.
  enum Fault: Error, Equatable, Sendable {
    /// It is not JSON, or a member has another type.
    case noObject
    /// It is for something else.
    case otherKind
    /// The version is not one of ``versions``.
    case otherVersion
    /// The address of the cluster is missing or none.
    case noServer

    /// The fault, as the end of a sentence.
    var reason: String {
      switch self {
      case .noObject: "it is no JSON object with apiVersion, kind and spec"
      case .otherKind: "its kind is not ExecCredential"
      case .otherVersion:
        "its apiVersion is not known; write \(ExecCredential.versions[0]) into the kubeconfig"
      case .noServer: "the cluster has no server"
      }
    }
  }

  /// The versions that are spoken, the best first.
  static let versions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]
  private static let kind = "ExecCredential"
  /// The variable that holds the question.
  static let variable = "KUBERNETES_EXEC_INFO"

  /// The version of the question, and so of the answer.
  var version: String
  /// The address of the cluster's API, where the kubeconfig lets it be told (provideClusterInfo).
  var server: String?

  /// A question of which nothing is known but that it is asked.
  init() { version = Self.versions[0] }

  /// Reads the value of ``variable``.
  ///
  /// - Throws: why it cannot be followed.
  init(parsing text: String) throws(Fault) {
    guard let root = try? JSONDocument(parsing: Array(text.utf8)).root, root.kind == .object,
      let version = try? root["apiVersion"]?.string(), let kind = try? root["kind"]?.string(),
      let spec = root["spec"], spec.kind == .object
    else { throw .noObject }
    guard kind == Self.kind else { throw .otherKind }
    guard Self.versions.contains(version) else { throw .otherVersion }
    self.version = version
    guard let cluster = spec["cluster"], !cluster.isNull else { return }
    guard let server = try? cluster["server"]?.string(), HelperAnswer.isVisible(server), !server.isEmpty else {
      throw .noServer
    }
    self.server = server
  }

  /// The answer with a token; the caller wipes it.
  ///
  /// - Parameters:
  ///   - token: the bearer token.
  ///   - expiresAt: until when the client keeps it, to the second and never later; nil: until it ends or is refused.
  /// - Returns: JSON.
  func answer(_ token: Secret, expiresAt: Timestamp?) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("apiVersion", version)
      writer.member("kind", Self.kind)
      writer.key("status")
      writer.object { writer in
        if let expiresAt {
          writer.member("expirationTimestamp", Timestamp(milliseconds: expiresAt.milliseconds / 1000 * 1000))
        }
        writer.member(revealing: "token", token)
      }
    }
    return writer.bytes
  }
}
