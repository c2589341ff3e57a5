import LinuxSystem

// Synchronous from end to end: asking for a token must cost no more than a small C program does.
// A descriptor that the caller closed must not become a socket's.
try? ProcessHardening.fillStandardDescriptors()
let code = CommandLineProgram.run(Array(CommandLine.arguments.dropFirst()), Environment.current)
ProcessImage.end(code.rawValue)
