import BrokerProtocol
import JSON
import StateDirectory

/// Asks for the keys that a profile needs and the command line does not give.
struct ProfileQuestions {
  /// The options that say where a secret is; one is enough.
  static let secretOptions: [Option] = [
    .value("--secret-file", "FILE", "where the client secret is: a file that holds nothing else", completion: .files),
    .value("--secret-env", "NAME", "where it is: a variable of the environment of the broker"),
    .value("--secret-command", "CMD", "where it is: what a program prints, such as 'pass show work'"),
    .flag("--secret-stdin", "read it from standard input, one line, into a file (0600) beside the configuration"),
  ]
  /// The options for the keys that most providers need, and any other key.
  static let keyOptions: [Option] = [
    .value("--client-id", "ID", "the client ID, as the provider gave it"),
    .value("--issuer", "URL", "the issuer of an OpenID Connect provider"),
    .value("--base-url", "URL", "the address of a server or a REST backend"),
    .value("--client-metadata-url", "URL", "where you publish the document about the client"),
    .value("--set", "KEY=VALUE", "any other key of the profile, as text or JSON; may be repeated"),
  ]
  private static let keys = [
    "--client-id": "clientId", "--issuer": "issuer", "--base-url": "baseUrl",
    "--client-metadata-url": "clientMetadataUrl",
    "--resource": "resource",
  ]

  private let context: Context
  private let offered: [OfferedProvider]
  private let taken: [String]

  /// Questions about one of the providers; `taken` are the names that other profiles have.
  init(_ context: Context, _ offered: [OfferedProvider], taken: [String]) {
    self.context = context
    self.offered = offered
    self.taken = taken
  }

  /// Asks for the provider, its keys, and the name of the profile.
  ///
  /// - Throws: a usage failure for what the command line says wrongly, or lacks where no person can be asked.
  func draft() throws(CommandFailure) -> ProfileDraft {
    let given = try givenName()
    var found: [(key: String, value: ProfileDraft.Value)] = []
    let provider = try provider(&found)
    var draft = ProfileDraft(provider)
    try takeOptions(&draft)
    for (key, value) in found where draft[key] == nil { draft[key] = value }
    let asked = provider.questions.filter { draft[$0.key] == nil }
    for question in asked {
      if question.isRequired || asksAll && question.isAsked {
        if context.canAsk { explain(question, draft) }
        try ask(question, &draft)
      }
      if draft[question.key] == nil, let value = question.value { draft[question.key] = .text(value) }
    }
    draft.name = if let given { given } else { try name(provider) }
    return draft
  }

  /// Whether a person is asked for optional keys, and for the profile's name: not where options name the provider.
  private var asksAll: Bool {
    context.canAsk && !["--provider", "--issuer", ProtectedResource.option.name].contains(where: context.arguments.has)
  }

  /// Whether the provider's address was typed, and so may be mistaken.
  func asksForAddress(_ draft: ProfileDraft) -> Bool {
    let given = Set(Self.keys.filter { context.arguments.has($0.key) }.values).union(setKeys)
    return draft.provider.questions.contains {
      $0.isRequired && !$0.key.hasPrefix("client") && !$0.isSecret && !given.contains($0.key)
    }
  }

  /// Asks what to do about a provider that does not answer.
  ///
  /// - Returns: whether the profile is written all the same; false to try once more.
  func leavesProviderOut() throws(CommandFailure) -> Bool {
    while true {
      switch try Prompt.askOnce("Enter tries again, w writes the profile as it is") {
      case nil: return false
      case "w"?: return true
      case _?: continue
      }
    }
  }

  /// Asks again for typed values, or for the mistaken keys; Enter keeps a value.
  ///
  /// - Returns: false where nothing was typed that could be typed again.
  func correct(_ draft: inout ProfileDraft, _ keys: [String]) throws(CommandFailure) -> Bool {
    guard context.canAsk else { return false }
    let given = Set(Self.keys.filter { context.arguments.has($0.key) }.values).union(setKeys)
    let typed = draft.provider.questions.filter { question in
      !given.contains(question.key) && !(question.isSecret && isSecretGiven)
        && (question.isAsked || keys.contains(question.key) || keys.contains("client"))
    }
    let isAboutClient = keys.contains("client")
    let mistaken = typed.filter { question in
      keys.contains(question.key) || (isAboutClient && question.key.hasPrefix("client"))
        || (keys.contains("address") && !question.key.hasPrefix("client") && question.isRequired)
    }
    let asked = mistaken.isEmpty ? typed : mistaken
    for question in asked { try ask(question, &draft) }
    return !asked.isEmpty
  }

  // MARK: The provider

  /// The provider, and the values of its keys that follow from how it was named.
  private func provider(
    _ found: inout [(key: String, value: ProfileDraft.Value)]
  ) throws(CommandFailure) -> OfferedProvider {
    if let resource = context.arguments[ProtectedResource.option.name] {
      guard context.arguments["--provider"].map({ $0 == Self.mcp }) ?? true, let mcp = named(Self.mcp) else {
        throw .usage("\(ProtectedResource.option.name) and --provider cannot be combined")
      }
      found = try values(of: ProtectedResource(of: resource, context))
      return mcp
    }
    if let name = context.arguments["--provider"] {
      if let known = named(name) { return known }
      let types = offered.map { $0.type }
      throw .unknown(
        "provider", name, likely: Spelling.nearest(to: name, among: types), choices: types.joined(separator: ", "))
    }
    if context.arguments.has("--issuer"), let oidc = named(Self.oidc) { return oidc }
    guard context.canAsk else { throw .usage("there is no terminal to ask at; give --provider") }
    return try askedProvider(&found)
  }

  /// The type of provider that is known by its issuer alone.
  static let oidc = "oidc"
  /// The type of provider that a resource names.
  static let mcp = "mcp"

  private func askedProvider(
    _ found: inout [(key: String, value: ProfileDraft.Value)]
  ) throws(CommandFailure) -> OfferedProvider {
    Output.message("which provider do you log in at?")
    let width = String(offered.count).count
    for (index, provider) in offered.enumerated() {
      let number = String(repeating: " ", count: width - String(index + 1).count) + String(index + 1)
      Output.progress("  \(number)  \(PlainText.line(provider.title.utf8))\n")
    }
    while true {
      let answer = try Prompt.ask("Number, or the address of an OpenID Connect provider, or: resource URL")
      if let number = Int(answer), offered.indices.contains(number - 1) { return offered[number - 1] }
      if answer.hasPrefix("https://") || answer.hasPrefix("http://"), let oidc = named(Self.oidc) {
        found = [("issuer", .text(answer))]
        return oidc
      }
      if answer.hasPrefix(Self.resourceMark), let mcp = named(Self.mcp) {
        do throws(CommandFailure) {
          found = try values(of: ProtectedResource(of: String(answer.dropFirst(Self.resourceMark.count)), context))
          return mcp
        } catch {
          guard [.failure, .providerUnavailable].contains(error.exitCode), error.signal == nil else { throw error }
          context.tell(error.message)
          continue
        }
      }
      if let known = named(answer) { return known }
      Output.message("\(answer.shellQuoted) is none of them; enter a number from 1 to \(offered.count), or https://…")
    }
  }

  /// The word before the address of a protected resource.
  private static let resourceMark = "resource "

  /// The keys of a profile for a protected resource; of several authorization servers a person chooses one.
  private func values(
    of resource: ProtectedResource
  ) throws(CommandFailure) -> [(key: String, value: ProfileDraft.Value)] {
    var issuer = context.arguments["--issuer"] ?? resource.issuers[0]
    if let given = context.arguments["--issuer"], !resource.issuers.contains(given) {
      let named = resource.issuers.map { PlainText.line($0.utf8) }.joined(separator: ", ")
      throw .usage("the resource does not name \(given.shellQuoted); it names \(named)")
    }
    if resource.issuers.count > 1, !context.arguments.has("--issuer") { issuer = try chosen(resource.issuers) }
    Output.notice("tokens for \(PlainText.line(resource.resource.utf8)) come from \(PlainText.line(issuer.utf8))")
    // The only one is found each time; of several the choice is written.
    return [("resource", .text(resource.resource))] + (resource.issuers.count > 1 ? [("issuer", .text(issuer))] : [])
  }

  private func chosen(_ issuers: [String]) throws(CommandFailure) -> String {
    guard context.canAsk else {
      let named = issuers.map { PlainText.line($0.utf8) }.joined(separator: ", ")
      throw .usage("the resource names several authorization servers; choose one with --issuer: \(named)")
    }
    Output.message("which of these servers do you log in at?")
    for (index, issuer) in issuers.enumerated() {
      Output.progress("  \(index + 1)  \(PlainText.line(issuer.utf8))\n")
    }
    while true {
      if let number = Int(try Prompt.ask("Number")), issuers.indices.contains(number - 1) { return issuers[number - 1] }
      Output.message("enter a number from 1 to \(issuers.count)")
    }
  }

  private func named(_ name: String) -> OfferedProvider? { offered.first { $0.type == name.lowercased() } }

  // MARK: Keys

  private var setKeys: Set<String> { Set(context.arguments.all("--set").compactMap { Self.pair($0)?.key }) }

  private var isSecretGiven: Bool { Self.secretOptions.contains { context.arguments.has($0.name) } }

  private static func pair(_ text: String) -> (key: String, value: String)? {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return nil }
    return (String(text[..<equals]), String(text[text.index(after: equals)...]))
  }

  private func takeOptions(_ draft: inout ProfileDraft) throws(CommandFailure) {
    for option in Self.keyOptions {
      guard let key = Self.keys[option.name], let value = context.arguments[option.name] else { continue }
      draft[key] = .text(value)
    }
    for text in context.arguments.all("--set") {
      guard let pair = Self.pair(text) else { throw .usage("--set needs a key and its value: --set KEY=VALUE") }
      draft[pair.key] = SecretReferenceInput.value(pair.value)
    }
    guard isSecretGiven else { return }
    guard let question = draft.provider.questions.first(where: { $0.isSecret }) else {
      throw .usage("the provider \(draft.provider.type) takes no secret")
    }
    draft[question.key] = try SecretReferenceInput.given(context)
  }

  /// Says where the answer comes from, or why it is asked.
  private func explain(_ question: OfferedProvider.Question, _ draft: ProfileDraft) {
    if ["clientId", "apiKey"].contains(question.key), let steps = draft.provider.steps {
      let key = question.key == "clientId"
      let place = draft.provider.registrationAddress(with: draft).map { " at:\n\($0)\n" } ?? "; "
      Output.message((key ? "a client ID is made" : "the key is shown") + place + PlainText.line(steps.utf8))
      if key { Output.message("one that your organization has made already is as good: a client ID is no secret") }
    }
    if let reason = question.reason { Output.progress(PlainText.line(reason.utf8) + "\n") }
  }

  private func ask(_ question: OfferedProvider.Question, _ draft: inout ProfileDraft) throws(CommandFailure) {
    let text = PlainText.line(question.text.utf8)
    guard context.canAsk else {
      let option = question.isSecret ? "--secret-file" : Self.keys.first { $0.value == question.key }?.key
      throw .usage("there is no terminal to ask at; give \(option ?? "--set \(question.key)=VALUE")")
    }
    if question.isSecret {
      draft[question.key] = try SecretReferenceInput.ask(text, question.isRequired)
      return
    }
    while let answer = try answer(question, text, draft) {
      guard ["issuer", "baseUrl"].contains(question.key), !answer.includes("://"), !answer.hasPrefix("$") else {
        draft[question.key] = .text(answer)
        return
      }
      Output.message("\(answer.shellQuoted) is no address; write \("https://\(answer)".shellQuoted)")
    }
  }

  /// Asks a person; returns nil for a value that stays as it is.
  private func answer(
    _ question: OfferedProvider.Question, _ text: String, _ draft: ProfileDraft
  ) throws(CommandFailure) -> String? {
    if case .text(let present)? = draft[question.key] { return try Prompt.askOnce("\(text) [\(present)]") }
    if question.isRequired { return try Prompt.ask(text) }
    return try Prompt.askOnce(text + (question.usual.map { " [\(PlainText.line($0.utf8))]" } ?? ""))
  }

  // MARK: The name

  /// The name that an option gives; nil where none does.
  private func givenName() throws(CommandFailure) -> ProfileName? {
    guard let text = context.arguments["--name"] ?? context.arguments["--profile"] else { return nil }
    if let fault = fault(inName: text) { throw .usage(fault) }
    return ProfileName(text)
  }

  private func name(_ provider: OfferedProvider) throws(CommandFailure) -> ProfileName {
    let usual = ["default", provider.type].first { fault(inName: $0) == nil }
    guard asksAll else {
      guard let name = usual.flatMap({ ProfileName($0) }) else { throw .usage("give the profile a name with --name") }
      return name
    }
    while true {
      let question = "Name of the profile" + (usual.map { " [\($0)]" } ?? "")
      guard let answer = try Prompt.askOnce(question) ?? usual else { continue }
      guard let fault = fault(inName: answer) else { return ProfileName(answer) ?? .default }
      Output.message(fault)
    }
  }

  private func fault(inName text: String) -> String? {
    guard ProfileName(text) != nil else {
      return "\(text.shellQuoted) is not a profile name; use a-z, 0-9, '.', '_' and '-'"
    }
    return taken.contains(text) ? "there is a profile \(text) already; choose another name" : nil
  }
}
