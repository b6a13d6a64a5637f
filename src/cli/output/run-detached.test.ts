import { deepEqual, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { clusterFlag } from '../options/data-directory-option.ts'
import { parseCommand } from '../command/command.ts'
import { up } from '../commands/up.ts'
import { runDetached, undetachedArguments } from './run-detached.ts'

const rows: [typed: string[], passed: string[]][] = [
  [['--detach'], []],
  [
    ['-dv', '--port', '0'],
    ['--verbose', '--port=0'],
  ],
  [['-d', '--wait', '--wait-timeout=1m', '--nodes', '3'], ['--nodes=3']],
  [['--detach', '--tls-san', 'a', '--tls-san', 'b'], ['--tls-san=a,b']],
]
for (const [typed, passed] of rows)
  test(`up ${typed.join(' ')} runs up ${passed.join(' ')} in the background`, () => {
    const { options } = parseCommand(up, typed)
    deepEqual(undetachedArguments(options), passed)
    deepEqual(parseCommand(up, passed).options['detach'], undefined)
  })

test('a timeout that is no duration is a mistake of usage, and nothing is started', () =>
  rejects(
    runDetached({ wait: true, 'wait-timeout': 'soon' }, { dataDirectory: '/none', flag: '', nodes: 1 }, {} as never),
    {
      name: 'UsageError',
      message: 'duration "soon" is not like 90s or 1h30m',
    },
  ))

const outcomes: [
  what: string,
  options: { readonly 'data-dir'?: string } & Record<string, string | boolean>,
  missing: string[],
  printed: RegExp,
  error?: string,
][] = [
  [
    'without --wait',
    {},
    ['never asked'],
    /^ready in 7 ms\n\nIt runs in the background as process 42; its output is in \/d\/up\.log\. End it: coxswain down\n$/,
  ],
  [
    'with --wait',
    { wait: true },
    [],
    /^ready in 7 ms\n\n {2}No real containers: no runc\.\n2 nodes are ready after \d+\.\d s\nIt runs in the background/,
  ],
  [
    'with --wait, when something is missing',
    { wait: true, 'wait-timeout': '5s', 'data-dir': '/d' },
    ['1 of 2 nodes are ready', 'node a is not ready'],
    /^ready in 7 ms\n\n$/,
    'not ready after 5s: 1 of 2 nodes are ready; node a is not ready.\nIt runs in the background as process 42; its output is in /d/up.log. End it: coxswain down --data-dir /d',
  ],
]
for (const [what, options, missing, printed, message] of outcomes)
  test(`what is printed ${what}`, async () => {
    let text = ''
    const asked: unknown[] = []
    const run = runDetached(
      { detach: true, ...options },
      { dataDirectory: '/d', flag: clusterFlag(options), nodes: 2 },
      { out: (piece) => void (text += piece), signal: new AbortController().signal },
      {
        output: () => Promise.resolve('\n  Ctrl-C ends it.\n\n  No real containers: no runc.\n'),
        start: () => Promise.resolve({ pid: 42, report: 'ready in 7 ms' }),
        missing(kubeconfig, { nodes, timeoutMs }) {
          asked.push([kubeconfig, nodes, timeoutMs])
          return Promise.resolve(missing)
        },
      },
    )
    if (message === undefined) deepEqual(await run, 0)
    else await rejects(run, { message })
    match(text, printed)
    const timeoutMs = options['wait-timeout'] === '5s' ? 5_000 : 120_000
    deepEqual(asked, options['wait'] === true ? [['/d/admin.kubeconfig', 2, timeoutMs]] : [])
  })
