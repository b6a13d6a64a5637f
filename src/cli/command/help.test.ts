import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { defineCommand, parseCommand, type Terminal } from './command.ts'
import { commands } from '../commands.ts'
import { up } from '../commands/up.ts'
import { examples } from './examples.ts'
import { overview, usage } from './help.ts'
import { run } from '../run.ts'

async function typed(argv: string[], columns?: number): Promise<string> {
  let printed = ''
  const { signal } = new AbortController()
  const out = (text: string) => void (printed += text)
  const terminal: Terminal = { out, err: out, isTerminal: false, columns, environment: {}, signal, startedMs: 0 }
  equal(await run(commands, argv, terminal), 0)
  return printed
}

test('the overview lists every command once, under a heading', async () => {
  const text = await typed([])
  for (const { name } of commands) equal(text.match(new RegExp(`^  ${name} `, 'gm'))?.length, 1, name)
  match(text, /^Run a cluster:\n {2}up {2,}starts a cluster on this machine\n/m)
  for (const argv of [['help'], ['--help'], ['-h'], ['help', 'help']]) equal(await typed(argv), text)
})

test('a command that no heading names is listed under Other', () => {
  const unlisted = defineCommand({ ...up, name: 'unlisted', summary: 'is new' })
  match(overview([...commands, unlisted], 80), /\nOther:\n(?: .*\n)*? {2}unlisted {2,}is new\n/)
})

test('the help of a command shows its common flags; --help-all shows all of them', async () => {
  const common = usage(up, { all: false, columns: undefined })
  const all = usage(up, { all: true, columns: undefined })
  for (const argv of [
    ['help', 'up'],
    ['up', '--help'],
    ['up', '-h', '--port', '0'],
  ])
    equal(await typed(argv), common)
  for (const argv of [
    ['up', '--help-all'],
    ['help', 'up', '--help-all'],
    ['--help-all', 'up'],
  ])
    equal(await typed(argv), all)
  match(
    common,
    /^Starts a cluster on this machine\.\n\nUsage: coxswain up \[flags\]\n\nExamples:\n {2}# .*\n {2}coxswain up\n/,
  )
  equal(common.includes('--audit-policy-file'), false)
  match(common, /\d+ more flags with --help-all: [^]*Audit/)
  for (const name of Object.keys(up.options)) match(all, new RegExp(`^ +(-., )?--${name}\\b`, 'm'))
  equal(all.includes('more flags with'), false)
  match(all, /\nAudit:\n {6}--audit-log-/)
})

test('the number of hidden flags has the right noun', () => {
  const option = { type: 'boolean', help: 'x', section: 'Rare' } as const
  const hidden = (options: Record<string, typeof option>) => {
    const command = defineCommand({ name: 'a', summary: 'b', operands: '', options, run: () => Promise.resolve(0) })
    return usage(command, { all: false, columns: 100 }).match(/\d+ more flags?/)?.[0]
  }
  equal(hidden({ one: option }), '1 more flag')
  equal(hidden({ one: option, two: option }), '2 more flags')
})

test('descriptions begin at one column and stay within the terminal', async () => {
  for (const columns of [80, 200])
    for (const { name } of commands) {
      const lines = (await typed([name, '--help-all'], columns)).split('\n')
      deepEqual(
        lines.filter((line) => line.length > columns && !line.startsWith('  coxswain ')),
        [],
        name,
      )
      const flags = lines.filter((line) => /^ {2}.{34} {2}\S/.test(line) && line.includes('--'))
      deepEqual(
        flags.filter((line) => line.slice(2, 36).trimEnd().length > 34),
        [],
        name,
      )
    }
})

test('every command has examples, and every example is a command line that is accepted', () => {
  for (const command of commands) {
    const known = examples[command.name]
    ok(known !== undefined || command.name === 'image', `${command.name} has no examples`)
    for (const [line] of known ?? []) {
      const [program, name, ...argv] = line.split(' ')
      deepEqual([program, name], ['coxswain', command.name])
      parseCommand(command, argv)
    }
  }
})
