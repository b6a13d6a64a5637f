// Help: the list of commands by purpose, and the help page of one command with examples and flags.
import { lookup } from '../../base/collections/lookup.ts'
import type { Command, CommandOption } from './command.ts'
import { examples } from './examples.ts'

/** Commands by purpose, in the order in which a new user needs them. */
const groups: readonly [title: string, names: readonly string[]][] = [
  [
    'Run a cluster',
    [
      'up',
      'list',
      'kubectl',
      'server',
      'agent',
      'status',
      'token',
      'member',
      'node',
      'rotate',
      'service',
      'down',
      'reset',
    ],
  ],
  ['See what happens and why', ['flow', 'why', 'ui', 'top', 'lab']],
  ['Images, backup and restore', ['image', 'registry', 'snapshot', 'restore']],
  [
    'Run one component',
    [
      'apiserver',
      'controller-manager',
      'scheduler',
      'kubelet',
      'proxy',
      'dns',
      'etcd',
      'announcer',
      'cloud-controller-manager',
      'kwok',
    ],
  ],
  ['Other', ['completion', 'version']],
]

/** Wide enough for most flags. The description of a longer flag begins on the next line. */
const flagColumns = 34
/** When the output is not a terminal. */
const columnsDefault = 100
const columnsMin = 60

/** The commands under their headings. */
export function commandGroups(commands: readonly Command[]): readonly [title: string, members: readonly Command[]][] {
  const grouped = new Set(groups.flatMap(([, names]) => names))
  const others = commands.map(({ name }) => name).filter((name) => !grouped.has(name))
  return groups.flatMap(([title, names]) => {
    const listed = title === 'Other' ? [...others, ...names] : names
    const members = listed.flatMap((name) => commands.find((command) => command.name === name) ?? [])
    return members.length === 0 ? [] : [[title, members]]
  })
}

/** One line per command. */
export function overview(commands: readonly Command[], columns: number | undefined): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const listed = commandGroups(commands).flatMap(([title, members]) => [
    `${title}:`,
    ...members.flatMap(({ name, summary }) => row(name, summary, width, columns)),
    '',
  ])
  return [
    'Coxswain is a Kubernetes in one process. It records why everything in it happens.',
    '',
    'Usage: coxswain <command> [flags]',
    '',
    ...listed,
    'coxswain <command> --help shows the flags and examples of a command.',
    '',
  ].join('\n')
}

export interface UsageOptions {
  /** Includes the flags under headings. */
  readonly all: boolean
  readonly columns: number | undefined
}

export interface FlagSections {
  readonly common: readonly [name: string, option: CommandOption][]
  /** Those with a heading. */
  readonly further: readonly [heading: string, flags: readonly [name: string, option: CommandOption][]][]
}

/** The flags of a command under their headings. */
export function sectionsOf({ options }: Pick<Command, 'options'>): FlagSections {
  const bySection = Map.groupBy(Object.entries(options), ([, { section }]) => section ?? '')
  const common = bySection.get('') ?? []
  return { common, further: [...bySection].filter(([heading]) => heading !== '') }
}

/** Operands and flags in the order in which they are typed. */
export function argumentsOf({ operands, options, passesArguments = false }: Command): readonly string[] {
  const flags = Object.keys(options).length === 0 ? '' : '[flags]'
  return passesArguments ? [flags, operands] : [operands, flags]
}

/** The help page of one command. */
export function usage(command: Command, { all, columns }: UsageOptions): string {
  const { name, aliases = [], summary } = command
  const typed = ['coxswain', name, ...argumentsOf(command)]
  const { common, further } = sectionsOf(command)
  const flags = (members: readonly [string, CommandOption][]) =>
    members.flatMap((member) => row(flagText(member), member[1].help, flagColumns, columns))
  const shown = all ? further : []
  const hidden = further.reduce((sum, [, members]) => sum + members.length, 0)
  const headings = further.map(([heading]) => heading).join(', ')
  const more = `${hidden} more ${hidden === 1 ? 'flag' : 'flags'} with --help-all: ${headings}.`
  return [
    ...wrapped(`${summary[0]?.toUpperCase() ?? ''}${summary.slice(1)}.`, columnsOf(columns)),
    '',
    `Usage: ${typed.filter((word) => word !== '').join(' ')}`,
    ...(aliases.length === 0 ? [] : [`Also: ${aliases.map((alias) => `coxswain ${alias}`).join(', ')}`]),
    ...examplesOf(name),
    ...(common.length === 0 ? [] : ['', 'Flags:', ...flags(common)]),
    ...shown.flatMap(([heading, members]) => ['', `${heading}:`, ...flags(members)]),
    ...(hidden === 0 || all ? [] : ['', ...wrapped(more, columnsOf(columns))]),
    '',
  ].join('\n')
}

const examplesOf = (name: string): string[] => {
  const known = lookup(examples, name) ?? []
  return known.length === 0 ? [] : ['', 'Examples:', ...known.flatMap(([line, what]) => [`  # ${what}`, `  ${line}`])]
}

/** Flags with and without a short form start at the same column. */
const flagText = ([name, { value, short }]: readonly [string, CommandOption]): string =>
  `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`

/** A label and its description, which is wrapped in its own column. */
function row(label: string, description: string, width: number, columns: number | undefined): string[] {
  const indent = ' '.repeat(width + 4)
  const [first = '', ...rest] = wrapped(description, Math.max(20, columnsOf(columns) - indent.length))
  const head = label.length > width ? [`  ${label}`, `${indent}${first}`] : [`  ${label.padEnd(width)}  ${first}`]
  return [...head, ...rest.map((line) => `${indent}${line}`)]
}

const columnsOf = (columns = columnsDefault): number => Math.max(columnsMin, columns)

function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
