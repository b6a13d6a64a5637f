// The completion scripts, made from all commands. That of bash runs in bash.
import { deepEqual, equal, match } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { commands } from '../commands.ts'
import { bashScript } from './bash.ts'
import { completions, valuesIn, type CommandCompletion, type Values } from './completions.ts'
import { fishScript } from './fish.ts'
import { zshScript } from './zsh.ts'

const texts: [text: string, values: Values][] = [
  ['', { kind: 'none' }],
  ['<file>', { kind: 'files' }],
  ['load <archive>… | list', { kind: 'files' }],
  ['<directory>', { kind: 'directories' }],
  ['true|false', { kind: 'words', words: ['true', 'false'] }],
  ['sqlite|memory|etcd=<urls>', { kind: 'words', words: ['sqlite', 'memory'] }],
  ['create', { kind: 'words', words: ['create'] }],
  ['<n>', { kind: 'text' }],
  ['[<kind>/<name>]', { kind: 'text' }],
]
for (const [text, values] of texts)
  test(`the values of ${JSON.stringify(text)}`, () => deepEqual(valuesIn(text), values))

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'coxswain-completion-'))
  writeFileSync(join(folder, 'script'), bashScript(completions(commands)))
  writeFileSync(join(folder, 'backup one.db'), '')
  execFileSync('mkdir', [join(folder, 'backups')])
})
after(() => rmSync(folder, { recursive: true }))

/** What bash proposes; the last word is the one at the cursor. */
const proposed = (words: readonly string[]): string[] =>
  execFileSync(
    'bash',
    [
      '--norc',
      '-c',
      'source ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _coxswain; printf "%s\\n" "${COMPREPLY[@]}"',
      'bash',
      ...words,
    ],
    { cwd: folder, encoding: 'utf8' },
  )
    .split('\n')
    .filter((line) => line !== '')

const rows: [typed: string[], proposals: string[]][] = [
  [['s'], ['scheduler', 'server', 'service', 'snapshot', 'status', 'stop']],
  [['compl'], ['completion']],
  [
    ['completion', ''],
    ['bash', 'fish', 'zsh'],
  ],
  [
    ['up', '--runt'],
    ['--runtime', '--runtime-config'],
  ],
  [
    ['up', '--wait'],
    ['--wait', '--wait-timeout'],
  ],
  [
    ['up', '--runtime', ''],
    ['auto', 'containerd', 'simulated', 'none'],
  ],
  [['up', '--runtime', 's'], ['simulated']],
  [
    ['up', '--runtime', '='],
    ['auto', 'containerd', 'simulated', 'none'],
  ],
  [['up', '--runtime', '=', 'c'], ['containerd']],
  [['up', '--port', ''], []],
  [['up', '-v', '--detac'], ['--detach']],
  [['stop', '--c'], ['--containers']],
  [['why', 'deploy'], ['deployment']],
  [['why', 'pod', 'deploy'], []],
  [
    ['why', '-o', ''],
    ['text', 'json'],
  ],
  [['flow', '-n', 'shop', 'cronj'], ['cronjob']],
  [['top', 'deploy'], ['deployments']],
  [
    ['image', ''],
    ['load', 'list'],
  ],
  [
    ['image', 'load', 'back'],
    ['backups', 'backup one.db'],
  ],
  [['restore', 'backup '], ['backup one.db']],
  [['up', '--data-dir', 'back'], ['backups']],
  [['lab', 'crash'], ['crash-loop']],
  [['help', 'tok'], ['token']],
  [
    ['token', '--'],
    [
      '--context',
      '--description',
      '--kubeconfig',
      '--name',
      '--pinned',
      '--print-join-command',
      '--server',
      '--server-url',
      '--data-dir',
      '--ttl',
      '--help',
      '--help-all',
    ],
  ],
]
for (const [typed, proposals] of rows)
  test(`bash completes coxswain ${typed.join(' ')}`, () =>
    deepEqual(proposed(['coxswain', ...typed]).toSorted(), proposals.toSorted()))

test('bash completes every command and every flag', () => {
  const all = completions(commands)
  deepEqual(
    proposed(['coxswain', '']),
    all.map(({ name }) => name),
  )
  for (const { name, flags } of all.filter((each) => each.name === 'up' || each.name === 'kubelet'))
    deepEqual(
      proposed(['coxswain', name, '--']),
      flags.map((flag) => `--${flag.name}`),
    )
})

const sailCommand: CommandCompletion = {
  name: 'sail',
  summary: "sails, if it's windy",
  flags: [
    { name: 'to', short: 't', help: "a port [its name] of 'all'", values: { kind: 'words', words: ['a', 'b'] } },
    { name: 'log', short: undefined, help: 'a file', values: { kind: 'files' } },
    { name: 'in', short: undefined, help: 'a folder', values: { kind: 'directories' } },
    { name: 'knots', short: undefined, help: 'speed', values: { kind: 'text' } },
    { name: 'fast', short: undefined, help: 'hurry', values: { kind: 'none' } },
  ],
  operand: { kind: 'words', words: ['now', 'later'] },
  others: { kind: 'files' },
}

test('zsh: commands with descriptions, and a specification of each flag', () => {
  const script = zshScript([sailCommand])
  match(script, /^#compdef coxswain\n/)
  equal(script.includes(`    'sail:sails, if it'\\''s windy'\n`), true)
  const specs = script.slice(script.indexOf('_arguments'), script.indexOf(';;')).split('\\\n')
  deepEqual(
    specs.slice(1).map((line) => line.trim()),
    [
      `'(-t --to)-t[a port \\[its name\\] of '\\''all'\\'']:value:(a b)'`,
      `'(-t --to)--to=[a port \\[its name\\] of '\\''all'\\'']:value:(a b)'`,
      `'--log=[a file]:value:_files'`,
      `'--in=[a folder]:value:_files -/'`,
      `'--knots=[speed]:value: '`,
      `'--fast[hurry]'`,
      `'1:value:(now later)'`,
      `'*:value:_files'`,
    ],
  )
})

test('fish: one line for each command, operand and flag', () => {
  const [, , , first, ...lines] = fishScript([sailCommand]).split('\n')
  equal(first, 'complete --command coxswain --no-files')
  const here = (condition: string) => `complete --command coxswain --condition '${condition}'`
  const sail = '__fish_seen_subcommand_from sail'
  const given = '__fish_seen_subcommand_from now later'
  deepEqual(lines, [
    `complete --command coxswain --condition __fish_use_subcommand --arguments sail --description 'sails, if it\\'s windy'`,
    `${here(`${sail}; and not ${given}`)} --arguments 'now later'`,
    `${here(`${sail}; and ${given}`)} --force-files`,
    `${here(sail)} --long-option to --short-option t --exclusive --arguments 'a b' --description 'a port [its name] of \\'all\\''`,
    `${here(sail)} --long-option log --require-parameter --force-files --description 'a file'`,
    `${here(sail)} --long-option in --exclusive --arguments '(__fish_complete_directories)' --description 'a folder'`,
    `${here(sail)} --long-option knots --exclusive --description 'speed'`,
    `${here(sail)} --long-option fast --description 'hurry'`,
    '',
  ])
})
