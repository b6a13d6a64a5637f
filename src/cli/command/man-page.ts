// Manual pages in roff, for `man coxswain-up`: from the same definitions as the help of the commands.
import { lookup } from '../../base/collections/lookup.ts'
import type { Command, CommandOption } from './command.ts'
import { examples } from './examples.ts'
import { argumentsOf, commandGroups, sectionsOf } from './help.ts'

/** Text as roff prints it: its escape character, hyphens of flags, and control characters at the start of a line. */
const escaped = (text: string): string =>
  text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll(
      /[^ -~\n]/gu,
      (character) => `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replaceAll(/^(?=[.'])/gm, String.raw`\&`)

const bold = (text: string): string => String.raw`\fB${escaped(text)}\fR`
const italic = (text: string): string => String.raw`\fI${escaped(text)}\fR`
/** An argument of a macro. */
const quoted = (text: string): string => `"${escaped(text).replaceAll('"', '""')}"`

const heading = (title: string): string => `.SH ${quoted(title.toUpperCase())}`
const pageName = (command: Pick<Command, 'name'>): string => `coxswain-${command.name}`

const titleLine = (name: string, version: string): string =>
  `.TH ${quoted(name.toUpperCase())} 1 "" ${quoted(`Coxswain ${version}`)} ${quoted('Coxswain manual')}`

/** No ending of a line is hyphenated or stretched: flags and commands are copied from the page. */
const format = ['.nh', '.ad l']

const flag = ([name, { value, short, help }]: readonly [string, CommandOption]): string[] => [
  '.TP',
  `${short === undefined ? '' : `${bold(`-${short}`)}, `}${bold(`--${name}`)}${value === undefined ? '' : ` ${italic(value)}`}`,
  escaped(help),
]

const literal = (line: string): string[] => ['.PP', '.in +4n', '.EX', escaped(line), '.EE', '.in']

const exitStatus = [
  heading('Exit status'),
  ...(
    [
      ['0', 'The command has done what it was called for.'],
      ['1', 'It failed, or it has found what it was to look for. The reason is on standard error.'],
      ['2', 'A flag or an operand is wrong. Nothing was done.'],
    ] as const
  ).flatMap(([code, meaning]) => ['.TP', bold(code), escaped(meaning)]),
]

const seeAlso = (names: readonly string[]): string[] => [
  heading('See also'),
  names.map((name) => `${bold(name)}(1)`).join(', '),
]

const textOf = (lines: readonly string[]): string => `${lines.join('\n')}\n`

function commandPage(command: Command, version: string): string {
  const { name, aliases = [], summary, operands } = command
  const words = argumentsOf(command).map((word) => (word !== '' && word === operands ? italic(word) : word))
  const synopsis = [bold(`coxswain ${name}`), ...words]
  const known = lookup(examples, name) ?? []
  const { common, further } = sectionsOf(command)
  return textOf([
    titleLine(pageName(command), version),
    ...format,
    heading('Name'),
    `${escaped(pageName(command))} \\- ${escaped(summary)}`,
    heading('Synopsis'),
    synopsis.filter((word) => word !== '').join(' '),
    ...(aliases.length === 0
      ? []
      : [heading('Other names'), aliases.map((alias) => bold(`coxswain ${alias}`)).join(', ')]),
    ...(common.length === 0 && further.length === 0 ? [] : [heading('Flags'), ...common.flatMap(flag)]),
    ...further.flatMap(([title, members]) => [`.SS ${quoted(title)}`, ...members.flatMap(flag)]),
    ...(known.length === 0 ? [] : [heading('Examples')]),
    ...known.flatMap(([line, what]) => ['.PP', escaped(`${what}:`), ...literal(line)]),
    ...exitStatus,
    ...seeAlso(['coxswain', 'kubectl']),
  ])
}

function overviewPage(commands: readonly Command[], version: string): string {
  const groups = commandGroups(commands).flatMap(([title, members]) => [
    `.SS ${quoted(title)}`,
    ...members.flatMap((command) => ['.TP', `${bold(pageName(command))}(1)`, escaped(command.summary)]),
  ])
  return textOf([
    titleLine('coxswain', version),
    ...format,
    heading('Name'),
    `coxswain \\- ${escaped('a Kubernetes in one process that records why everything in it happens')}`,
    heading('Synopsis'),
    `${bold('coxswain')} ${italic('command')} [flags]`,
    heading('Commands'),
    ...groups,
    heading('Environment'),
    '.TP',
    bold('KUBECONFIG'),
    escaped('the kubeconfig of the commands that use a cluster'),
    '.TP',
    bold('COXSWAIN_DEBUG'),
    escaped('if it is set, an unexpected error is printed with its stack'),
    ...exitStatus,
    ...seeAlso(commands.map(pageName)),
  ])
}

/** The pages by the names of their files: `coxswain.1`, and one for each command. */
export const manPages = (commands: readonly Command[], version: string): ReadonlyMap<string, string> =>
  new Map([
    ['coxswain.1', overviewPage(commands, version)],
    ...commands.map((command) => [`${pageName(command)}.1`, commandPage(command, version)] as const),
  ])
