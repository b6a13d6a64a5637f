// Finds the command that was typed and runs it; mistakes end in one clear line, bugs in a stack.
import { errorText } from '../base/log.ts'
import packageFields from '../../package.json' with { type: 'json' }
import { serverVersion } from '../apiserver/discovery/version.ts'
import { overview, parseCommand, usage, UsageError, type Command, type Terminal } from './command.ts'

const exitUsage = 2

export async function run(commands: readonly Command[], argv: readonly string[], terminal: Terminal): Promise<number> {
  const [first = 'help', ...rest] = argv
  const isHelp = ['help', '--help', '-h'].includes(first)
  const name = isHelp ? rest[0] : first
  if (name === undefined) {
    terminal.out(overview(commands))
    return 0
  }
  if (['version', '--version'].includes(name)) {
    terminal.out(
      `coxswain ${packageFields.version}, Kubernetes ${serverVersion.gitVersion}, Node.js ${process.version}\n`,
    )
    return 0
  }
  const command = commands.find((candidate) => candidate.name === name)
  if (command === undefined) {
    terminal.err(`coxswain: there is no command ${JSON.stringify(name)}; try: coxswain help\n`)
    return exitUsage
  }
  if (isHelp || rest.includes('--help') || rest.includes('-h')) {
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
