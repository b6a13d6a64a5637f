// A command of the CLI: its name, how it is used, and what it does. One file each in commands/, listed in commands.ts.
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

export interface Terminal {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly isTerminal: boolean
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
  /** Its values are joined with commas. */
  readonly isRepeatable?: boolean
}

export interface Command<
  Options extends Readonly<Record<string, CommandOption>> = Readonly<Record<string, CommandOption>>,
> {
  readonly name: string
  readonly summary: string
  /** What follows the name: `<kind>/<name>`. */
  readonly operands: string
  readonly options: Options
  /** Returns the exit code. */
  run(arguments_: Arguments<Options>, terminal: Terminal): Promise<number>
}

export interface Arguments<Options> {
  readonly operands: readonly string[]
  readonly options: { readonly [Name in keyof Options]?: Options[Name] extends { type: 'boolean' } ? boolean : string }
}

/** A mistake of the person who typed the command: the message is shown without a stack. */
export class UsageError extends Error {
  override name = 'UsageError'
}

export const defineCommand = <const Options extends Readonly<Record<string, CommandOption>>>(
  command: Command<Options>,
): Command => command

export function parseCommand(command: Command, argv: readonly string[]): Arguments<Command['options']> {
  const config: ParseArgsOptionsConfig = {}
  for (const [name, { type, short, isRepeatable = false }] of Object.entries(command.options))
    config[name] = { type, multiple: isRepeatable, ...(short === undefined ? {} : { short }) }
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: config, allowPositionals: true })
    const surplus = positionals[command.operands === '' ? 0 : 1]
    if (surplus !== undefined) throw new UsageError(`${JSON.stringify(surplus)} is too much${seeHelp(command)}`)
    const joined = Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value])
    return { operands: positionals, options: Object.fromEntries(joined) as Record<string, string> }
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(mistakeText(command, error as Error), { cause: error })
  }
}

const seeHelp = ({ name }: Command): string => `; see: coxswain help ${name}`

/** What parseArgs complains of, in a line. */
function mistakeText(command: Command, { code, message }: Error & { readonly code?: string }): string {
  const [, dashes = '', name = ''] = /'(?:-\w, )?(-{1,2})([\w-]+)/.exec(message) ?? []
  const option = `${dashes}${name}`
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `there is no option ${option}${seeHelp(command)}`
  const { type, value = '' } = command.options[name] ?? {}
  return type === 'boolean' ? `${option} takes no value` : `${option} needs a value: ${option}=${value}`
}

export function usage(command: Command): string {
  const rows = Object.entries(command.options).map(([name, { value, short, help }]) => {
    const flag = `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
    return `  ${flag.padEnd(34)} ${help}`
  })
  return [`coxswain ${command.name} ${command.operands}`.trimEnd(), `  ${command.summary}`, ...rows, ''].join('\n')
}

/** All commands, a line each. */
export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const rows = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return ['coxswain <command>', '', ...rows, '', 'coxswain help <command> tells its options.', ''].join('\n')
}
