// The completion script of fish.
import type { CommandCompletion, FlagCompletion, Values } from './completions.ts'

export const fishScript = (commands: readonly CommandCompletion[]): string =>
  [
    '# Completion of coxswain for fish. To load it:',
    '#   coxswain completion fish | source',
    '',
    'complete --command coxswain --no-files',
    ...commands.map(
      ({ name, summary }) =>
        `complete --command coxswain --condition __fish_use_subcommand --arguments ${name} --description ${quoted(summary)}`,
    ),
    ...commands.flatMap(({ name, flags, operand, others }) => [
      ...operandLines(name, operand, others),
      ...flags.map((flag) => `${when(`__fish_seen_subcommand_from ${name}`)}${flagArguments(flag)}`),
    ]),
    '',
  ].join('\n')

const when = (condition: string): string => `complete --command coxswain --condition '${condition}'`

/** A word of the first operand is not followed by another one. */
function operandLines(name: string, operand: Values, others: Values): string[] {
  const first = operandArguments(operand)
  const further = operandArguments(others)
  const seen = `__fish_seen_subcommand_from ${name}`
  if (operand.kind !== 'words') return first === '' ? [] : [`${when(seen)}${first}`]
  const given = `__fish_seen_subcommand_from ${operand.words.join(' ')}`
  return [
    `${when(`${seen}; and not ${given}`)}${first}`,
    ...(further === '' ? [] : [`${when(`${seen}; and ${given}`)}${further}`]),
  ]
}

const flagArguments = ({ name, short, help, values }: FlagCompletion): string =>
  ` --long-option ${name}${short === undefined ? '' : ` --short-option ${short}`}${valueArguments(values)} --description ${quoted(help)}`

function valueArguments(values: Values): string {
  switch (values.kind) {
    case 'none':
      return ''
    case 'words':
      return ` --exclusive --arguments ${quoted(values.words.join(' '))}`
    case 'files':
      return ' --require-parameter --force-files'
    case 'directories':
      return ` --exclusive --arguments '(__fish_complete_directories)'`
    case 'text':
      return ' --exclusive'
    default:
      return values satisfies never
  }
}

function operandArguments(values: Values): string {
  switch (values.kind) {
    case 'words':
      return ` --arguments ${quoted(values.words.join(' '))}`
    case 'files':
      return ' --force-files'
    case 'directories':
      return ` --arguments '(__fish_complete_directories)'`
    case 'none':
    case 'text':
      return ''
    default:
      return values satisfies never
  }
}

const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
