// The program when its output is closed: `coxswain … | head`, and a closed standard error.
import { deepEqual } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('./main.ts', import.meta.url))
const quiet = '--disable-warning=ExperimentalWarning'

const rows: [what: string, left: 'stdout' | 'stderr', code: number, argv: (directory: string) => string[]][] = [
  [
    'a cluster whose output is closed stops as on Ctrl-C',
    'stdout',
    0,
    (directory) => ['up', '--runtime', 'simulated', '--store', 'memory', '--port', '0', '--data-dir', directory],
  ],
  ['a command with short output ends normally when its output is closed', 'stdout', 0, () => ['help']],
  ['errors on a closed standard error are ignored', 'stderr', 2, () => ['dance']],
]
for (const [what, left, code, argv] of rows)
  test(what, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'coxswain-left-'))
    await using _folder = { [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) }
    const child = spawn(process.execPath, [quiet, main, ...argv(directory)], { stdio: ['ignore', 'pipe', 'pipe'] })
    const exited = once(child, 'exit')
    child[left].destroy()
    const other = left === 'stdout' ? child.stderr : child.stdout
    const collected = text(other)
    // A stop that takes long on a busy machine says what it waits for.
    const printed = (await collected).split('\n').filter((line) => !line.startsWith('still stopping after '))
    deepEqual([await exited, printed], [[code, null], ['']])
  })
