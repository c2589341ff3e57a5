import BrokerProtocol
import LinuxSystem
import SecretMemory

/// `authbroker helper kubectl`, an exec plugin for the credentials of Kubernetes' clients.
enum KubectlHelper: ToolHelper {
  static let name = "helper kubectl"
  static let about = CommandDescription(
    summary: "Give kubectl the token of a cluster",
    details: """
      kubectl runs it, once a user of the kubeconfig has:
        exec:
          apiVersion: client.authentication.k8s.io/v1
          command: authbroker
          args: [helper, kubectl]
          interactiveMode: Never
          provideClusterInfo: true

      The cluster's server decides which profile's token it is (section targets), or --profile. kubectl keeps the token
      until it expires; where it asks again before that, the cluster has refused the token, and another one is obtained.

      --id gives the ID token, which most clusters want that trust an OpenID provider; the profile must have
      allowIdToken: true.
      """,
    options: [IDTokenRequest.option],
    examples: ["authbroker helper kubectl -p cluster"])

  /// Answers the question in the environment.
  static func run(_ context: Context) throws(CommandFailure) {
    let question = context.environment[ExecCredential.variable]
    let request = try request(question)
    let server = try server(of: request, context)
    let wantsID = context.arguments.has(IDTokenRequest.option.name)
    // One process may speak to several clusters. What a person asks for by hand has not been refused.
    let purpose = "\(server)\n\(context.arguments["--profile"] ?? "")\n\(wantsID ? "id" : "access")"
    let memory = question == nil ? nil : try IssuedTokens("kubectl", for: purpose, in: context.paths())
    let now = LocalTime.now
    let earlier = memory?.entry(at: now)
    let refused = earlier.flatMap { $0.wantsAnother(at: now) ? $0.tokenID : nil }
    var broker = try HelperBroker(context, sending: .bearer)
    let grant = try broker.configuredGrant(for: server, insteadOf: refused)
    var (secret, expiry) = (grant.token.accessToken, grant.token.expiresAt)
    if wantsID {
      let identity = try broker.identityToken(of: grant.target.profile)
      (secret, expiry) = (identity.idToken, identity.expiresAt)
    }
    let replacedAt = refused == nil ? earlier?.replacedAt : now
    memory?.remember(.init(tokenID: grant.token.tokenID, expiresAt: expiry, replacedAt: replacedAt), at: now)
    Output.line(request.answer(secret, expiresAt: expiry))
  }

  private static func request(_ question: String?) throws(CommandFailure) -> ExecCredential {
    guard let question else { return ExecCredential() }
    do throws(ExecCredential.Fault) { return try ExecCredential(parsing: question) } catch {
      throw CommandFailure(.failure, "\(ExecCredential.variable) cannot be read: \(error.reason)")
    }
  }

  private static func server(of request: ExecCredential, _ context: Context) throws(CommandFailure) -> String {
    if let server = request.server ?? (context.arguments.has("--profile") ? "" : nil) { return server }
    throw CommandFailure(
      .usage,
      "kubectl does not tell the server of the cluster; write provideClusterInfo: true into the kubeconfig, or name a "
        + "profile with --profile")
  }
}
