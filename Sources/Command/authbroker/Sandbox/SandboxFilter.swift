/// The filter of the system calls in a sandbox (seccomp(2)), as the kernel takes it: what no namespace keeps in.
///
/// Keyrings are a user's in every namespace: by its number a program could read one that holds secrets of other programs (keyrings(7)).
/// Sockets of machines (vsock(7)) and of devices lead out of every network namespace, and the rings of io_uring(7) open sockets past
/// a filter. A program that is left in the working directory with the set-user-ID bit would be its user for everyone who runs it.
struct SandboxFilter {
  /// One instruction of the filter: its code, where it goes when a test is true and where otherwise, and its operand.
  private struct Instruction {
    static let load: UInt16 = 0x20
    static let isEqual: UInt16 = 0x15
    static let isAtLeast: UInt16 = 0x35
    static let hasBits: UInt16 = 0x45
    static let end: UInt16 = 0x06

    let code: UInt16
    var whenTrue: UInt8 = 0
    var whenFalse: UInt8 = 0
    let operand: UInt32

    /// As the kernel reads it.
    var bytes: [UInt8] {
      [UInt8(truncatingIfNeeded: code), UInt8(truncatingIfNeeded: code >> 8), whenTrue, whenFalse]
        + (0..<4).map { UInt8(truncatingIfNeeded: operand >> (8 * $0)) }
    }
  }

  /// The numbers of one kind of programs: those of the machine, or the 32-bit ones that it runs as well.
  private struct Interface {
    /// Its name in the kernel (AUDIT_ARCH).
    let architecture: UInt32
    /// Calls that are refused: those of keyrings, by which sockets are made unseen, and the two whose arguments lie in memory.
    let refused: [UInt32]
    /// socket(2).
    let socket: UInt32
    /// The calls that set a mode, and which argument is the mode.
    let modes: [(call: UInt32, argument: UInt32)]
    /// The calls that make a file, and which argument has the flags: the next one is the mode.
    let opens: [(call: UInt32, argument: UInt32)]
    /// From this number on calls are those of another interface, with the same name.
    var end: UInt32?
  }

  #if arch(x86_64)
  private static let interfaces = [
    Interface(
      architecture: 0xC000_003E, refused: [248, 249, 250, 425, 437], socket: 41,
      modes: [(90, 1), (91, 1), (268, 2), (452, 2), (85, 1), (133, 1), (259, 2)], opens: [(2, 1), (257, 2)],
      end: 0x4000_0000),
    Interface(
      architecture: 0x4000_0003, refused: [286, 287, 288, 425, 437, 102], socket: 359,
      modes: [(15, 1), (94, 1), (306, 2), (452, 2), (8, 1), (14, 1), (297, 2)], opens: [(5, 1), (295, 2)]),
  ]
  #elseif arch(arm64)
  private static let interfaces = [
    Interface(
      architecture: 0xC000_00B7, refused: [217, 218, 219, 425, 437], socket: 198,
      modes: [(52, 1), (53, 2), (452, 2), (33, 2)], opens: [(56, 2)]),
    Interface(
      architecture: 0x4000_0028, refused: [309, 310, 311, 425, 437, 102], socket: 281,
      modes: [(15, 1), (94, 1), (333, 2), (452, 2), (8, 1), (14, 1), (324, 2)], opens: [(5, 1), (322, 2)]),
  ]
  #else
  private static let interfaces: [Interface] = []
  #endif

  /// The kinds of sockets that there are: AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK, which the namespaces keep in.
  private static let families: [UInt32] = [1, 2, 10, 16]
  /// S_ISUID of inode(7).
  private static let setUser: UInt32 = 0o4000
  /// The flags of open(2) that make a file, with a name or without: else the mode means nothing.
  private static let makesFile: UInt32 = 0o100 | 0o20_000_000
  // Answers: the call goes on, or fails with EPERM, ENOSYS – as if the kernel had no such call – or EAFNOSUPPORT.
  private static let allowed: UInt32 = 0x7FFF_0000
  private static let notPermitted: UInt32 = 0x0005_0001
  private static let notThere: UInt32 = 0x0005_0026
  private static let noFamily: UInt32 = 0x0005_0061
  // Places in what the filter is shown of a call.
  private static let number: UInt32 = 0
  private static let architecture: UInt32 = 4

  /// The instructions, each in eight bytes; nil for a processor whose calls are not known here.
  static var bytes: [UInt8]? {
    guard !interfaces.isEmpty else { return nil }
    var program = [Instruction(code: Instruction.load, operand: architecture)]
    for interface in interfaces {
      let section = section(of: interface)
      program.append(skip(section.count, unless: Instruction.isEqual, interface.architecture))
      program += section
    }
    // Of other kinds of programs the numbers are not known.
    program.append(answer(notThere))
    return program.flatMap { $0.bytes }
  }

  private static func section(of interface: Interface) -> [Instruction] {
    var section = [Instruction(code: Instruction.load, operand: number)]
    if let end = interface.end {
      section += [skip(1, unless: Instruction.isAtLeast, end), answer(notThere)]
    }
    for call in interface.refused { section += [skip(1, unless: Instruction.isEqual, call), answer(notThere)] }
    let ends = families.enumerated().map { index, family in
      // To the instruction behind the refusal.
      Instruction(code: Instruction.isEqual, whenTrue: UInt8(families.count - index), operand: family)
    }
    section += of(interface.socket, [load(argument: 0)] + ends + [answer(noFamily), answer(allowed)])
    for (call, argument) in interface.modes { section += of(call, judgeMode(argument)) }
    for (call, argument) in interface.opens {
      let judgement = judgeMode(argument + 1)
      section += of(
        call,
        [load(argument: argument), skip(judgement.count - 1, unless: Instruction.hasBits, makesFile)] + judgement)
    }
    return section + [answer(allowed)]
  }

  /// Refuses a mode with the set-user-ID bit.
  private static func judgeMode(_ argument: UInt32) -> [Instruction] {
    [load(argument: argument), skip(1, unless: Instruction.hasBits, setUser), answer(notPermitted), answer(allowed)]
  }

  /// Instructions for one call, which end with an answer.
  private static func of(_ call: UInt32, _ instructions: [Instruction]) -> [Instruction] {
    [skip(instructions.count, unless: Instruction.isEqual, call)] + instructions
  }

  private static func skip(_ count: Int, unless test: UInt16, _ operand: UInt32) -> Instruction {
    Instruction(code: test, whenFalse: UInt8(count), operand: operand)
  }

  private static func answer(_ value: UInt32) -> Instruction { Instruction(code: Instruction.end, operand: value) }

  /// Loads the lower half of an argument: these processors have the lower one first.
  private static func load(argument: UInt32) -> Instruction {
    Instruction(code: Instruction.load, operand: 16 + 8 * argument)
  }
}
