import { equal, match, rejects } from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startDetached } from './start-detached.ts'

const { signal } = new AbortController()
let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coxswain-detached-'))
})
after(() => rm(directory, { recursive: true }))

const program = (script: string): string[] => [process.execPath, '--eval', script]

test('a program runs on in the background once it is ready; its output is in a file', async () => {
  const logPath = join(directory, 'data', 'output.log')
  const script = `console.log('starting'); console.log('ready in 7 ms at https://a\\n\\n  Ctrl-C ends it.'); setInterval(() => {}, 60_000)`
  const started = await startDetached(program(script), logPath, signal)
  try {
    equal(started.report, 'ready in 7 ms at https://a')
    equal(process.kill(started.pid, 0), true)
    match(await readFile(logPath, 'utf8'), /^starting\nready in 7 ms at https:\/\/a\n\n {2}Ctrl-C ends it\.\n$/)
  } finally {
    process.kill(started.pid, 'SIGKILL')
  }
})

const failures: [what: string, script: string, message: string][] = [
  ['fails', `console.error('coxswain up: the port is in use'); process.exit(1)`, 'the port is in use'],
  ['is killed', `process.kill(process.pid, 'SIGKILL')`, ''],
  ['prints much', `console.log('a'.repeat(5_000) + 'the end')`, `${'a'.repeat(1_992)}the end`],
]
for (const [what, script, message] of failures)
  test(`a program that ${what} is reported with the end of its own output`, async () => {
    const logPath = join(directory, 'failed.log')
    await writeFile(logPath, 'ready in 3 ms, printed by an earlier process\n  Ctrl-C ends it.\n')
    await rejects(startDetached(program(script), logPath, signal), {
      message: `it has ended before it was ready: ${message}`,
    })
  })

test('a program that does not exist is an error', () =>
  rejects(startDetached([join(directory, 'none')], join(directory, 'none.log'), signal), { code: 'ENOENT' }))
