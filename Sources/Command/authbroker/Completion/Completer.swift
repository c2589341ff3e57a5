import BrokerProtocol

/// Completes the word that is being typed, from the same descriptions as the help.
struct Completer: Sendable {
  /// A word, and its explanation.
  struct Candidate: Equatable, Sendable {
    /// The word.
    let word: String
    /// The explanation; empty where the word is plain.
    var meaning = ""
  }

  /// The answer for a shell.
  enum Answer: Equatable {
    /// Words, each as a whole.
    case candidates([Candidate])
    /// The shell's own completion of file names.
    case files, directories
  }

  /// Finds the names that only the broker or its configuration knows.
  let names: @Sendable (Completion, Arguments) -> [String]

  /// The options that say which broker is meant.
  private static let choosing: Set = ["--state", "--config", "--socket"]

  /// The words before the one that is typed.
  private struct Typed {
    var description: CommandDescription?
    var group: CommandEntry?
    var operandCount = 0
    /// An option that the word is the value of.
    var pending: Option?
    var isBehindDashes = false
    /// The options that say which broker is meant, as they stand there.
    var choosing: [String] = []

    /// The options that may come next.
    var options: [Option] { (description?.options ?? []) + Option.global }
  }

  /// Completes the last of some words.
  ///
  /// - Parameter words: those behind the program's name; the last one is being typed, and may be empty.
  /// - Returns: what a shell is to offer.
  func answer(_ words: [String]) -> Answer {
    let (typed, word) = (read(words.dropLast()), words.last ?? "")
    let arguments = (try? Arguments(typed.choosing, known: Option.global)) ?? Arguments()
    if let option = typed.pending { return offer(option.completion, word, "", arguments) }
    if word.hasPrefix("-"), !typed.isBehindDashes { return options(typed, word, arguments) }
    if typed.description == nil { return .candidates(Self.matching(word, commands(typed.group))) }
    guard let description = typed.description else { return .candidates([]) }
    return offer(description.completion(ofOperand: typed.operandCount), word, "", arguments)
  }

  /// Reads the words as the program itself does, but ignores unknown ones.
  private func read(_ words: ArraySlice<String>) -> Typed {
    var typed = Typed()
    for word in words {
      if let option = typed.pending {
        if Self.choosing.contains(option.name) { typed.choosing += [option.name, word] }
        typed.pending = nil
      } else if word == "--" {
        typed.isBehindDashes = true
      } else if word.hasPrefix("-"), word != "-", !typed.isBehindDashes {
        let given = Option.group(word)?.last ?? String(word.prefix { $0 != "=" })
        let option = typed.options.first { $0.name == Option.longNames[given] ?? given }
        if option?.value != nil, !word.contains("=") { typed.pending = option }
        if let option, Self.choosing.contains(option.name), word.contains("=") { typed.choosing.append(word) }
      } else {
        take(word, &typed)
      }
    }
    return typed
  }

  /// Takes a word that is no option: the command's name, its second word, or an operand.
  private func take(_ word: String, _ typed: inout Typed) {
    if typed.description != nil {
      typed.operandCount += 1
    } else if let group = typed.group {
      typed.description = (try? group.member(named: word))?.description
    } else if let command = try? CommandList.command(named: word) {
      if command.group == nil { typed.description = command.description } else { typed.group = command }
    }
  }

  private func commands(_ group: CommandEntry?) -> [Candidate] {
    (group?.group ?? CommandList.all).map { command in
      let words = command.name.split(separator: " ")
      return Candidate(word: String(words[words.count - 1]), meaning: command.description.summary)
    }
  }

  /// The options that begin with a word, or the values of one that the word names.
  private func options(_ typed: Typed, _ word: String, _ arguments: Arguments) -> Answer {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count > 1 else {
      let all = typed.options + (typed.description == nil && typed.group == nil ? [Option.version] : [])
      return .candidates(Self.matching(word, all.map { Candidate(word: $0.name, meaning: $0.meaning) }))
    }
    guard let option = typed.options.first(where: { $0.name == parts[0] }), option.value != nil else {
      return .candidates([])
    }
    return offer(option.completion, parts[1], parts[0] + "=", arguments)
  }

  private func offer(_ completion: Completion, _ word: String, _ prefix: String, _ arguments: Arguments) -> Answer {
    // Of a list, the last element is being typed.
    let begun = completion == .events ? word.lastIndex(of: ",").map(word.index(after:)) : nil
    let list = begun.map { String(word[..<$0]) } ?? ""
    let words: [Candidate]
    switch completion {
    case .none: words = []
    case .files: return .files
    case .directories: return .directories
    case .commands: words = commands(nil)
    case .words(let choices): words = choices.map { Candidate(word: $0) }
    case .choices(let choices): words = choices
    case .profiles, .events, .methods, .providers, .targets:
      words = names(completion, arguments).map { Candidate(word: $0) }
    }
    let matching = Self.matching(String(word.dropFirst(list.count)), words)
    return .candidates(matching.map { Candidate(word: prefix + list + $0.word, meaning: $0.meaning) })
  }

  private static func matching(_ word: String, _ all: [Candidate]) -> [Candidate] {
    all.filter { $0.word.hasPrefix(word) }
  }
}
