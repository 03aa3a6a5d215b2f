import Foundation

// A closed pipe is an answer to a write, not a reason to die: `Demo get … | head -1` ends quietly.
signal(SIGPIPE, SIG_IGN)
Interrupt.hold()
exit(Command.run(Array(CommandLine.arguments.dropFirst())))
