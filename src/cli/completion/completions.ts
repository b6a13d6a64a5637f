// What can be typed after `coxswain`, as data: commands, their flags, and the values of flags and operands. The shells'
// scripts are made from it.
import type { Command, CommandOption } from '../command/command.ts'

/** What a flag or an operand takes. */
export type Values =
  | { readonly kind: 'none' }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'files' }
  | { readonly kind: 'directories' }
  /** Something that cannot be listed, such as a number. */
  | { readonly kind: 'text' }

export interface FlagCompletion {
  /** Without dashes. */
  readonly name: string
  readonly short: string | undefined
  readonly help: string
  readonly values: Values
}

export interface CommandCompletion {
  /** The name of the command or an alias. */
  readonly name: string
  readonly summary: string
  readonly flags: readonly FlagCompletion[]
  readonly operand: Values
  /** What follows the first operand. */
  readonly others: Values
}

const helpFlags: readonly FlagCompletion[] = [
  { name: 'help', short: 'h', help: 'shows the flags and examples of the command', values: { kind: 'none' } },
  { name: 'help-all', short: undefined, help: 'shows all flags of the command', values: { kind: 'none' } },
]

export const completions = (commands: readonly Command[]): readonly CommandCompletion[] => [
  ...commands.flatMap(({ name, aliases = [], summary, options, operands, operandValues }) => {
    const flags = [...Object.entries(options).map(flagOf), ...helpFlags]
    const found = valuesIn(operands)
    const operand: Values = operandValues === undefined ? found : { kind: 'words', words: operandValues() }
    const others: Values = found.kind === 'files' ? found : { kind: 'none' }
    return [name, ...aliases].map((each) => ({ name: each, summary, flags, operand, others }))
  }),
  {
    name: 'help',
    summary: 'shows the commands, or the flags of one',
    flags: [],
    operand: { kind: 'words', words: commands.map(({ name }) => name) },
    others: { kind: 'none' },
  },
]

const flagOf = ([name, { short, help, type, value = '' }]: readonly [string, CommandOption]): FlagCompletion => ({
  name,
  short,
  help,
  values: type === 'boolean' ? { kind: 'none' } : valuesIn(value),
})

/** The values of a usage text: `a|b|<name>`, `<file>`, `<directory>`. */
export function valuesIn(text: string): Values {
  if (text === '') return { kind: 'none' }
  if (/<(?:file|path|archive|unix socket)>/.test(text)) return { kind: 'files' }
  if (text.includes('<directory>')) return { kind: 'directories' }
  const words = text.split('|').flatMap((part) => /^ *([\w-]+)(?: |$)/.exec(part)?.[1] ?? [])
  return words.length === 0 ? { kind: 'text' } : { kind: 'words', words }
}
