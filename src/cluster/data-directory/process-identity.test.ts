import { equal } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { isRunning, processIdentity } from './process-identity.ts'

test('a process runs until it has exited', async () => {
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  const identity = await processIdentity(child.pid ?? 0)
  equal(await isRunning(identity), true)
  child.kill('SIGKILL')
  await once(child, 'exit')
  equal(await isRunning(identity), false)
})

test('a zombie does not run', async () => {
  // The shell becomes a program that does not reap its child. The child ends with its input, when that has happened.
  const parent = spawn('sh', ['-c', 'exec 3<&0; (read line <&3) & echo $!; exec sleep 60'])
  try {
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const zombie = { pid: Number(line), since: undefined }
    while ((await readFile(`/proc/${parent.pid}/comm`, 'utf8')) !== 'sleep\n');
    equal(await isRunning(zombie), true)
    parent.stdin.end()
    while (await isRunning(zombie));
    process.kill(zombie.pid, 0) // fails unless the process still exists
  } finally {
    parent.kill('SIGKILL')
  }
})

const rows: [what: string, change: { pid?: number; since?: number | undefined }, runs: boolean][] = [
  ['this process', {}, true],
  ['this process, whose start time is not known', { since: undefined }, true],
  ['another process with the same pid', { since: 1 }, false],
  ['no process', { pid: NaN }, false],
  ['a group of processes', { pid: 0 }, false],
]
for (const [what, change, runs] of rows)
  test(`${what} ${runs ? 'runs' : 'does not run'}`, async () => {
    equal(await isRunning({ ...(await processIdentity(process.pid)), ...change }), runs)
  })
