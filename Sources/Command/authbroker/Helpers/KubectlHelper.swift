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
    var broker = try HelperBroker(context)
    let target = try target(of: request, context, &broker)
    let wantsID = context.arguments.has(IDTokenRequest.option.name)
    // What a person asks for by hand has not been refused.
    let purpose = purpose(of: target, request.server, wantsID)
    let memory = question == nil ? nil : try IssuedTokens("kubectl", for: purpose, in: context.paths())
    let now = Timestamp(milliseconds: WallClock.milliseconds)
    let earlier = memory?.entry(at: now)
    let refused = earlier.flatMap { $0.wantsAnother(at: now) ? $0.tokenID : nil }
    let token =
      if let refused { try broker.token(insteadOf: refused, for: target) } else { try broker.token(for: target) }
    var (secret, expiry) = (token.accessToken, token.expiresAt)
    if wantsID {
      let identity = try broker.identityToken(of: target.profile)
      (secret, expiry) = (identity.idToken, identity.expiresAt)
    }
    let replacedAt = refused == nil ? earlier?.replacedAt : now
    memory?.remember(.init(tokenID: token.tokenID, expiresAt: expiry, replacedAt: replacedAt), at: now)
    Output.line(request.answer(secret, expiresAt: expiry))
  }

  private static func request(_ question: String?) throws(CommandFailure) -> ExecCredential {
    guard let question else { return ExecCredential() }
    do throws(ExecCredential.Fault) { return try ExecCredential(parsing: question) } catch {
      throw CommandFailure(.failure, "\(ExecCredential.variable) cannot be read: \(error.reason)")
    }
  }

  private static func target(
    of request: ExecCredential, _ context: Context, _ broker: inout HelperBroker
  ) throws(CommandFailure) -> Target {
    guard let server = request.server ?? (context.arguments.has("--profile") ? "" : nil) else {
      throw CommandFailure(
        .usage,
        "kubectl does not tell the server of the cluster; write provideClusterInfo: true into the kubeconfig, or name a "
          + "profile with --profile")
    }
    return try broker.configuredTarget(of: server)
  }

  /// What keeps apart the tokens that one process is given: it may speak to several clusters of one target.
  private static func purpose(of target: Target, _ server: String?, _ wantsID: Bool) -> String {
    let parts = [server ?? "", target.profile.description, target.audience ?? "", wantsID ? "id" : "access"]
    return (parts + (target.scopes ?? [])).joined(separator: "\n")
  }
}
