// Finds the command that was typed and runs it; mistakes end in one clear line, bugs in a stack.
import { errorText } from '../base/log.ts'
import { parseCommand, usage, UsageError, type Command, type Terminal } from './command.ts'

const exitUsage = 2

export async function run(commands: readonly Command[], argv: readonly string[], terminal: Terminal): Promise<number> {
  const [name = 'help', ...rest] = argv
  if (['help', '--help', '-h'].includes(name)) {
    terminal.out(commands.map(usage).join('\n'))
    return 0
  }
  const command = commands.find((candidate) => candidate.name === name)
  if (command === undefined) {
    terminal.err(`coxswain: there is no command ${JSON.stringify(name)}; try: coxswain help\n`)
    return exitUsage
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    terminal.out(usage(command))
    return 0
  }
  try {
    return await command.run(parseCommand(command, rest), terminal)
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.err(`coxswain ${name}: ${error.message}\n`)
      return exitUsage
    }
    terminal.err(`coxswain ${name}: ${errorText(error)}\n`)
    if (terminal.environment['COXSWAIN_DEBUG'] !== undefined) terminal.err(`${(error as Error).stack}\n`)
    return 1
  }
}
