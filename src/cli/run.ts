// Finds and runs the command. A usage error is one line; an unexpected error has a stack with COXSWAIN_DEBUG.
import { errorText } from '../base/observability/log.ts'
import { didYouMean, similarNames } from '../base/text/similar-names.ts'
import {
  commandNamed,
  namedConfigFile,
  ownArguments,
  parseCommand,
  UsageError,
  type Command,
  type FlagValues,
  type Terminal,
} from './command/command.ts'
import { configFileFlags, thisProcess } from './command/config-file.ts'
import { overview, usage } from './command/help.ts'

const exitUsage = 2

export async function run(commands: readonly Command[], argv: readonly string[], terminal: Terminal): Promise<number> {
  const [first = 'help', ...rest] = argv
  const isHelp = ['help', '--help', '-h', '--help-all'].includes(first)
  const typed = isHelp ? rest.find((word) => !word.startsWith('-')) : first === '--version' ? 'version' : first
  const { columns } = terminal
  if (typed === undefined || typed === 'help') {
    terminal.out(overview(commands, columns))
    return 0
  }
  const command = commandNamed(commands, typed)
  if (command === undefined) {
    const names = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases])
    const question = didYouMean(similarNames(typed, names))
    terminal.err(`coxswain: unknown command ${JSON.stringify(typed)}; ${question || 'see: coxswain help'}\n`)
    return exitUsage
  }
  const flags = ownFlags(command, rest)
  const all = argv.includes('--help-all') && (isHelp || flags.includes('--help-all'))
  if (isHelp || all || flags.includes('--help') || flags.includes('-h')) {
    terminal.out(usage(command, { all, columns }))
    return 0
  }
  try {
    return await command.run(parseCommand(command, rest, await configured(command, rest)), terminal)
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.err(`coxswain ${typed}: ${error.message}\n`)
      return exitUsage
    }
    if (isOutputClosed(terminal.signal)) return 0
    terminal.err(`coxswain ${typed}: ${errorText(error)}\n`)
    if (terminal.environment['COXSWAIN_DEBUG'] !== undefined) terminal.err(`${(error as Error).stack}\n`)
    return 1
  }
}

/** Arguments after `--`, and those that a command passes to another program, are not for coxswain. */
function ownFlags(command: Command, argv: readonly string[]): readonly string[] {
  if (command.passesArguments === true) return argv.slice(0, ownArguments(command, argv).length + 1)
  return argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv
}

const configured = async (command: Command, argv: readonly string[]): Promise<FlagValues> =>
  command.configFile === undefined ? {} : configFileFlags(command, namedConfigFile(command, argv), thisProcess)

/** The reader of the output needs no more of it (`| head`), so what was in progress was aborted. */
const isOutputClosed = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && (reason as NodeJS.ErrnoException).code === 'EPIPE'
