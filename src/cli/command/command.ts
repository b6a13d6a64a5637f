// A command of the CLI: name, options and implementation. One file each in commands/, listed in commands.ts.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { didYouMean, similarNames } from '../../base/text/similar-names.ts'
import { flagsWithoutEffect } from './dependent-flags.ts'

export interface Terminal {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly isTerminal: boolean
  /** The width of the terminal; undefined when the output is not a terminal. */
  readonly columns?: number | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Aborted by SIGINT or SIGTERM. */
  readonly signal: AbortSignal
  readonly startedMs: number
}

export interface CommandOption {
  readonly type: 'string' | 'boolean'
  readonly help: string
  readonly value?: string
  readonly short?: string
  /** Repeated values are joined with commas. */
  readonly isRepeatable?: boolean
  /** The heading under which `--help-all` lists it. `--help` also lists options without a heading. */
  readonly section?: string
}

export interface Command<
  Options extends Readonly<Record<string, CommandOption>> = Readonly<Record<string, CommandOption>>,
> {
  readonly name: string
  /** Other names, which users of other tools expect. */
  readonly aliases?: readonly string[]
  readonly summary: string
  /** The operands in the usage line: `<kind>/<name>`. */
  readonly operands: string
  /** First operands that shells propose, if they are not in `operands`. */
  readonly operandValues?: () => readonly string[]
  /** What follows its own flags is for another program: all of it are operands, flags too. */
  readonly passesArguments?: boolean
  /** Maximum number of operands; by default 1, or 0 without operands. */
  readonly operandsMax?: number
  readonly options: Options
  /** `--config` names a file with flags. `machine`: root's default is the file of the machine. */
  readonly configFile?: 'named' | 'machine'
  /** Returns the exit code. */
  run(arguments_: Arguments<Options>, terminal: Terminal): Promise<number>
}

/** Flags by name; repeated ones are joined. */
export type FlagValues = Readonly<Record<string, string | boolean>>

export interface Arguments<Options> {
  readonly operands: readonly string[]
  readonly options: { readonly [Name in keyof Options]?: Options[Name] extends { type: 'boolean' } ? boolean : string }
}

/** The command of this name or alias. */
export const commandNamed = (commands: readonly Command[], typed: string): Command | undefined =>
  commands.find(({ name, aliases = [] }) => name === typed || aliases.includes(typed))

/** A usage error: the message is shown without a stack. */
export class UsageError extends Error {
  override name = 'UsageError'
}

export const defineCommand = <const Options extends Readonly<Record<string, CommandOption>>>(
  command: Command<Options>,
): Command => command

/** The same options under a heading of `--help-all`. */
export const inSection = <Options extends Readonly<Record<string, CommandOption>>>(
  options: Options,
  section: string,
): { readonly [Name in keyof Options]: Options[Name] & { readonly section: string } } =>
  Object.fromEntries(Object.entries(options).map(([name, option]) => [name, { ...option, section }])) as {
    readonly [Name in keyof Options]: Options[Name] & { readonly section: string }
  }

interface ParsedCommand {
  readonly operands: readonly string[]
  readonly flags: FlagValues
}

/** Flags in `configured` apply unless the command line has them. */
export function parseCommand(
  command: Command,
  argv: readonly string[],
  configured: FlagValues = {},
): Arguments<Command['options']> {
  const { operands, flags } = parseArguments(command, argv)
  const { config, ...values } = { ...configured, ...flags }
  // The file has been read.
  const options = command.configFile === undefined && config !== undefined ? { ...values, config } : values
  const [flaw] = flagsWithoutEffect(command.options, options)
  if (flaw !== undefined) throw new UsageError(flaw)
  return { operands, options: options as Record<string, string> }
}

/** The value of `--config`. */
export const namedConfigFile = (command: Command, argv: readonly string[]): string | undefined => {
  const { config } = parseArguments(command, argv).flags
  return typeof config === 'string' ? config : undefined
}

function parseArguments(command: Command, argv: readonly string[]): ParsedCommand {
  const config: ParseArgsOptionsConfig = {}
  const { passesArguments = false } = command
  for (const [name, { type, short, isRepeatable = false }] of Object.entries(command.options))
    setOwn(config, name, { type, multiple: isRepeatable, ...(short === undefined ? {} : { short }) })
  try {
    const typed = ownArguments(command, argv)
    const passed = argv.slice(typed.length)
    const own = withoutBooleanValues(command.options, typed)
    const args = passesArguments ? [...own, '--', ...(passed[0] === '--' ? passed.slice(1) : passed)] : own
    const { values, positionals } = parseArgs({ args, options: config, allowPositionals: true })
    const { operandsMax = passesArguments ? Infinity : command.operands === '' ? 0 : 1 } = command
    const surplus = positionals[operandsMax]
    if (surplus !== undefined)
      throw new UsageError(`unexpected argument ${JSON.stringify(surplus)}; see: coxswain ${command.name} --help`)
    const joined = Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value])
    return { operands: positionals, flags: Object.fromEntries(joined) as FlagValues }
  } catch (error) {
    throw error instanceof UsageError
      ? error
      : new UsageError(parseErrorText(command, error as Error), { cause: error })
  }
}

/** The arguments that are not for another program. */
export function ownArguments(
  { options, passesArguments = false }: Command,
  argv: readonly string[],
): readonly string[] {
  if (!passesArguments) return argv
  let count = 0
  for (;;) {
    const [, name = '', value] = /^--([\w-]+)(=.*)?$/s.exec(argv[count] ?? '') ?? []
    const option = lookup(options, name)
    if (option === undefined) return argv.slice(0, count)
    count += option.type === 'boolean' || value !== undefined ? 1 : 2
  }
}

/** The flags of upstream's programs may be written `--flag=true` and `--flag=false`. */
function withoutBooleanValues(options: Command['options'], argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  return argv.flatMap((argument, index) => {
    const [, name = '', value] = (end < 0 || index < end ? /^--([\w-]+)=(true|false)$/.exec(argument) : null) ?? []
    if (lookup(options, name)?.type !== 'boolean') return [argument]
    return value === 'true' ? [`--${name}`] : []
  })
}

/** A one-line message for an error of parseArgs. */
function parseErrorText({ name: commandName, options }: Command, { code, message }: Error & { code?: string }): string {
  const [, dashes = '', name = ''] = /'(?:-\w, )?(-{1,2})([\w-]+)/.exec(message) ?? []
  const flag = `${dashes}${name}`
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const question = didYouMean(similarNames(name, Object.keys(options)).map((known) => `--${known}`))
    return `unknown flag ${flag}; ${question === '' ? `see: coxswain ${commandName} --help` : question}`
  }
  const { type, value = '' } = lookup(options, name) ?? {}
  return type === 'boolean' ? `${flag} takes no value` : `${flag} needs a value: ${flag}=${value}`
}
