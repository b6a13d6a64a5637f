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

const rows: [what: string, left: 'stdout' | 'stderr', code: number, argv: (folder: string) => string[]][] = [
  [
    'who does not read what a cluster prints ends it as Ctrl-C does',
    'stdout',
    0,
    (folder) => ['up', '--runtime', 'simulated', '--store', 'memory', '--port', '0', '--data-dir', folder],
  ],
  ['who does not read a short answer ends nothing', 'stdout', 0, () => ['help']],
  ['complaints that nobody reads are lost', 'stderr', 2, () => ['dance']],
]
for (const [what, left, code, argv] of rows)
  test(what, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'coxswain-left-'))
    await using _folder = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
    const child = spawn(process.execPath, [quiet, main, ...argv(folder)], { stdio: ['ignore', 'pipe', 'pipe'] })
    const exited = once(child, 'exit')
    child[left].destroy()
    const other = left === 'stdout' ? child.stderr : child.stdout
    const heard = text(other)
    deepEqual([await exited, await heard], [[code, null], ''])
  })
