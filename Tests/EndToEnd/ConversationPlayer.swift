import JSON

/// Plays the client's part of a golden conversation and holds the broker to its own.
struct ConversationPlayer {
  let conversation: Conversation
  let provider: ConversationProvider
  private var template = Template()

  init(_ conversation: Conversation, with provider: ConversationProvider) {
    self.conversation = conversation
    self.provider = provider
  }

  /// Plays to the end, behind which the broker says nothing more.
  ///
  /// - Throws: ``TestFailure`` with what was said and what should have been.
  mutating func play(on wire: any Wire) throws {
    var expected: [JSONNode] = []
    for step in conversation.steps {
      if case .server(let template) = step {
        expected.append(template)
        continue
      }
      try receive(&expected, wire)
      switch step {
      case .client(let text): try wire.send(Array(template.filled(text).utf8))
      case .newest(let member): template.bind(member, to: try provider.newest(member))
      case .backupCodeOfBackend: template.bound["backupCode"] = try provider.newBackupCode()
      case .proof: if !wire.provesItself { try wire.prove() }
      case .server: break
      }
    }
    try receive(&expected, wire)
    try wire.finishSending()
    let rest = try wire.readToEnd()
    guard rest.isEmpty else { throw TestFailure("said unasked: \(rest)") }
  }

  /// Reads as many messages as are expected; they may come in any order.
  private mutating func receive(_ expected: inout [JSONNode], _ wire: any Wire) throws {
    while !expected.isEmpty {
      let message = try wire.nextNode()
      var problems: [String] = []
      let index = expected.firstIndex { candidate in
        let problem = template.match(message, candidate)
        if let problem { problems.append(problem) }
        return problem == nil
      }
      guard let index else {
        throw TestFailure("\(String(decoding: message.text, as: UTF8.self)): \(problems.joined(separator: "; "))")
      }
      expected.remove(at: index)
    }
  }
}
