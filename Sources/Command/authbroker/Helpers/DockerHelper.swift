import BrokerProtocol
import JSON
import SecretMemory
import StateDirectory

/// `authbroker helper docker`, the credential helper of docker, podman, skopeo, buildah and oras
/// (docker/docker-credential-helpers, README).
enum DockerHelper: ToolHelper {
  static let name = "helper docker"
  static let about = CommandDescription(
    operands: "OPERATION",
    // `list` is followed by a word without a meaning.
    operandCount: 1...2,
    summary: "Give docker, podman and skopeo the token of a registry",
    details: """
      docker runs it, once its configuration (~/.docker/config.json) names it for a registry:
        { "credHelpers": { "registry.example.com": "authbroker" } }

      OPERATION is get, store, erase, list or version. get answers for the registries of the section targets, list with
      those whose token can be had now. Nothing is stored: the broker has the token, and `authbroker logout` ends the
      session. erase, which is `docker logout`, reports that the registry has refused the token, and the next one is
      another; so does the store of a password that was typed in place of it. As the protocol demands it, errors are printed on standard output, and the exit code is 1.
      """,
    examples: [
      "echo registry.example.com | authbroker helper docker get",
      "authbroker helper docker list",
    ])

  static let programNames = ["docker-credential-authbroker"]

  /// Does what docker asks for; a failure becomes docker's own form of one.
  static func run(_ context: Context) throws(CommandFailure) {
    do throws(CommandFailure) { try run(context.arguments.operands[0], context) } catch {
      let sentence = HelperAnswer.sentence(of: error, context)
      Output.line(sentence)
      // docker goes on without credentials, and shows what stands on standard error alone.
      if ![DockerServer.notFound, DockerServer.noServer].contains(sentence) { Output.message(sentence) }
      throw .quiet(.failure)
    }
  }

  private static func run(_ operation: String, _ context: Context) throws(CommandFailure) {
    switch operation {
    case "get": try get(context)
    case "store": try store(context)
    case "erase": try erase(context)
    case "list": try list(context)
    case "version": Output.line("docker-credential-authbroker \(ProgramVersion.current)")
    default: throw CommandFailure(.failure, "unknown operation; use get, store, erase, list or version")
    }
  }

  /// The address of the registry, which is all of the input.
  private static func server() throws(CommandFailure) -> DockerServer {
    let text = String(validating: try ToolLines.all(), as: UTF8.self)
    guard let text, let server = DockerServer(text) else {
      throw CommandFailure(.failure, DockerServer.noServer)
    }
    return server
  }

  private static func get(_ context: Context) throws(CommandFailure) {
    let server = try server()
    var broker = try HelperBroker(context)
    guard let grant = try broker.grant(forFirst: server.urls) else {
      throw CommandFailure(.failure, DockerServer.notFound)
    }
    Output.line(answer(server, try username(of: grant.target), grant.token.accessToken))
  }

  /// The answer for docker: bytes that the caller wipes.
  static func answer(_ server: DockerServer, _ username: String, _ token: Secret) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("ServerURL", server.text)
      writer.member("Username", username)
      writer.member(revealing: "Secret", token)
    }
    return writer.bytes
  }

  /// Reports the token that is given out as refused; where the session has ended, nothing is left to do.
  private static func erase(_ context: Context) throws(CommandFailure) {
    let server = try server()
    var broker = try HelperBroker(context)
    guard let target = try broker.target(ofFirst: server.urls) else { return }
    do throws(CommandFailure) {
      let isReplaced = try broker.replaceToken(of: target) ?? false
      let end = NextCommand("the session goes on; end it with", "logout").on(target.profile)
      context.notice(Message(HelperBroker.replacement(of: target, isThere: isReplaced), next: end))
    } catch {
      guard error.exitCode == .loginRequired else { throw error }
    }
  }

  /// Takes what docker would keep after a login, without keeping it: the next `get` gives the broker's own token.
  ///
  /// docker and podman ask for a password where the registry has refused the token that they were given.
  ///
  /// - Throws: a failure for a registry that the broker has no token for, where nothing would be found later.
  private static func store(_ context: Context) throws(CommandFailure) {
    var text = try ToolLines.all()
    defer { wipe(&text) }
    let root = try? JSONDocument(parsing: text).root
    guard let url = try? root?["ServerURL"]?.string(), let server = DockerServer(url) else {
      throw CommandFailure(.failure, DockerServer.noServer)
    }
    var broker = try HelperBroker(context)
    if let target = try broker.target(ofFirst: server.urls) {
      let typed = try? root?["Secret"]?.secret()
      guard let typed, let isReplaced = try broker.replaceToken(of: target, unless: typed) else { return }
      let statement = HelperBroker.replacement(of: target, isThere: isReplaced)
      return context.notice(Message("no password was stored; \(statement)"))
    }
    throw CommandFailure(
      .failure,
      "authbroker keeps no passwords, and \(server.text.shellQuoted) \(HelperBroker.notConfigured)",
      next: server.urls.first.map { NextCommand("add it with", "target", "add", $0) })
  }

  /// Prints the registries whose token can be had now: docker asks for each, and one failure would fail the whole list.
  private static func list(_ context: Context) throws(CommandFailure) {
    var broker = try HelperBroker(context)
    let targets = try broker.targets()
    var entries: [(String, String)] = []
    for target in targets where target.scheme != .bearer {
      guard let server = DockerServer(listing: target.url), !entries.contains(where: { $0.0 == server.text }),
        let username = try? username(of: target), (try? broker.token(for: target)) != nil
      else { continue }
      entries.append((server.text, username))
    }
    context.printJSON(entries.map { (name: $0.0, value: $0.1) })
  }

  /// The user name that goes with the token.
  ///
  /// - Throws: a failure for `<token>`, by which docker would take the token for a refresh token and post it elsewhere.
  static func username(of target: Target) throws(CommandFailure) -> String {
    let username = target.username ?? AuthorizationValue.standardUsername
    guard username != DockerServer.refreshTokenUsername else {
      throw CommandFailure(
        .failure, "the username <token> of \(target.url) means a refresh token to docker; use another")
    }
    return username
  }
}
