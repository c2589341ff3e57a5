import LinuxSystem

// Synchronous from end to end: asking for a token must cost no more than a small C program does.
// A descriptor that the caller closed must not become a socket's.
try? ProcessHardening.fillStandardDescriptors()
// Passwords, codes and tokens pass through this process, also through `connect` for another program.
do throws(Errno) { try ProcessHardening.forbidInspectionHere() } catch {
  Output.message("this process cannot be protected from inspection: \(error)")
  ProcessImage.end(ExitCode.failure.rawValue)
}
let rawArguments = RawArguments()
guard let program = rawArguments.programName else {
  Output.message("the arguments cannot be read; start it with /proc mounted, or without LD_PRELOAD")
  ProcessImage.end(ExitCode.failure.rawValue)
}
guard let words = rawArguments.words else {
  Output.message(Message("an argument is not UTF-8 text", next: NextCommand("see", "help")).text(for: nil))
  ProcessImage.end(ExitCode.usage.rawValue)
}
if program == SandboxBeginning.programName {
  ProcessImage.end(SandboxBeginning.run(words, EnvironmentVariables.current).rawValue)
}
let prefix = program == "authbroker" ? [] : HelperCommand.words(calledAs: program)
let code = CommandLineProgram.run(prefix + words, EnvironmentVariables.current)
ProcessImage.end(code.rawValue)
