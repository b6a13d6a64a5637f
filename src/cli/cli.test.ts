import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { defineCommand, parseCommand, UsageError, type Terminal } from './command/command.ts'
import { commands } from './commands.ts'
import { run } from './run.ts'

function terminal() {
  const out: string[] = []
  const err: string[] = []
  const { signal } = new AbortController()
  const parts: Terminal = {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    isTerminal: false,
    environment: {},
    signal,
    startedMs: 0,
  }
  return { parts, out, err }
}

const greet = defineCommand({
  name: 'greet',
  summary: 'says hello',
  operands: '<name>',
  options: {
    loud: { type: 'boolean', help: 'shouts' },
    times: { type: 'string', value: '<n>', short: 'n', help: 'how often' },
  },
  run({ operands, options }, { out }) {
    if (operands[0] === undefined) throw new UsageError('whom?')
    if (operands[0] === 'bug') throw new Error('outer', { cause: new Error('inner') })
    out(`${options.loud ? 'HELLO' : 'hello'} ${operands[0]} ${options.times ?? '1'}`)
    return Promise.resolve(0)
  },
})

test('a command gets its operands and options', async () => {
  const { parts, out } = terminal()
  equal(await run([greet], ['greet', 'Ann', '--loud', '-n', '2'], parts), 0)
  deepEqual(out, ['HELLO Ann 2'])
  deepEqual(parseCommand(greet, ['x']).operands, ['x'])
})

test('a flag without a value may have the value true or false', () => {
  const loud = (...argv: string[]) => parseCommand(greet, argv).options['loud']
  deepEqual([loud('--loud=true'), loud('--loud=false'), loud()], [true, undefined, undefined])
  deepEqual(parseCommand(greet, ['-n', '1', '--', '--loud=true']).operands, ['--loud=true'])
})

const passing = defineCommand({
  ...greet,
  passesArguments: true,
  run({ operands, options }, { out }) {
    out(JSON.stringify([options, ...operands]))
    return Promise.resolve(0)
  },
})

const passed: [argv: string[], printed: unknown[]][] = [
  [
    ['get', '--loud', '-n', 'x', '--help'],
    [{}, 'get', '--loud', '-n', 'x', '--help'],
  ],
  [
    ['--loud', '--times', '2', 'get', 'pods'],
    [{ loud: true, times: '2' }, 'get', 'pods'],
  ],
  [
    ['--loud=false', '--times=2', '--', '--loud'],
    [{ times: '2' }, '--loud'],
  ],
  [['--watch'], [{}, '--watch']],
  [
    ['a', '--', 'b'],
    [{}, 'a', '--', 'b'],
  ],
  [[], [{}]],
]
for (const [argv, printed] of passed)
  test(`arguments for another program: ${argv.join(' ')}`, async () => {
    const { parts, out } = terminal()
    equal(await run([passing], ['greet', ...argv], parts), 0)
    deepEqual(JSON.parse(out.join('')), printed)
  })

test('the help of a command that passes its arguments is shown if nothing comes before the flag', async () => {
  const { parts, out, err } = terminal()
  equal(await run([passing], ['greet', '--loud', '--help'], parts), 0)
  match(out.join(''), /Usage: coxswain greet \[flags\] <name>\n/)
  equal(await run([passing], ['greet', '--times'], parts), 2)
  match(err.join(''), /--times needs a value/)
})

const mistakes: [argv: string[], code: number, message: RegExp][] = [
  [['greet'], 2, /^coxswain greet: whom\?\n$/],
  [['greet', '--wat'], 2, /^coxswain greet: unknown flag --wat; see: coxswain greet --help\n$/],
  [['greet', '--lowd'], 2, /^coxswain greet: unknown flag --lowd; did you mean --loud\?\n$/],
  [['greet', '-x'], 2, /unknown flag -x/],
  [['greet', '--times', '-1'], 2, /^coxswain greet: --times needs a value: --times=<n>\n$/],
  [['greet', '--times'], 2, /--times needs a value/],
  [['greet', '--loud=yes'], 2, /--loud takes no value/],
  [['greet', 'Ann', 'Bob'], 2, /unexpected argument "Bob"; see: coxswain greet --help/],
  [['dance'], 2, /^coxswain: unknown command "dance"; see: coxswain help\n$/],
  [['gret'], 2, /^coxswain: unknown command "gret"; did you mean greet\?\n$/],
  [['help', 'gret'], 2, /did you mean greet\?/],
  [['greet', 'bug'], 1, /^coxswain greet: outer: inner\n$/],
]
for (const [argv, code, message] of mistakes)
  test(`coxswain ${argv.join(' ')} ends with ${code}`, async () => {
    const { parts, err } = terminal()
    equal(await run([greet], argv, parts), code)
    match(err.join(''), message)
  })

const closures: [what: string, reason: Error, code: number, message: string][] = [
  ['a closed output', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }), 0, ''],
  ['a signal', new DOMException('ended by SIGTERM', 'AbortError'), 1, 'coxswain wait: ended by SIGTERM\n'],
]
for (const [what, reason, code, message] of closures)
  test(`a command that ${what} aborts ends with ${code}`, async () => {
    const { parts, err } = terminal()
    const controller = new AbortController()
    const wait = defineCommand({
      name: 'wait',
      summary: 'waits until it is aborted',
      operands: '',
      options: {},
      run(_, { signal }) {
        controller.abort(reason)
        signal.throwIfAborted()
        return Promise.resolve(0)
      },
    })
    equal(await run([wait], ['wait'], { ...parts, signal: controller.signal }), code)
    equal(err.join(''), message)
  })

test('the usage of a command is shown before and after its name', async () => {
  for (const argv of [
    ['help', 'greet'],
    ['greet', '--help'],
    ['greet', 'Ann', '-h'],
    ['greet', '--help-all'],
  ]) {
    const { parts, out } = terminal()
    equal(await run([greet], argv, parts), 0)
    match(out.join(''), /--times=<n>|-n, --times/)
  }
})

for (const shell of ['bash', 'fish', 'zsh'])
  test(`the completion for ${shell} knows all commands`, async () => {
    const { parts, out } = terminal()
    equal(await run(commands, ['completion', shell], parts), 0)
    for (const { name } of commands) ok(out.join('').includes(name), name)
  })

test('the version is that of the package and of the API', async () => {
  const { parts, out } = terminal()
  for (const word of ['version', '--version']) equal(await run(commands, [word], parts), 0)
  match(out.join(''), /^coxswain \d+\.\d+\.\d+, Kubernetes v1\.36\.\d+, Node\.js v\S+\n(coxswain .*\n)$/)
})
