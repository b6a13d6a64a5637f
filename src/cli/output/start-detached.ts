// Starts this program again in the background, with its output in a file, and waits until it reports that it is ready.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { realClock } from '../../base/time/clock.ts'
import { detachedReport } from './start-report.ts'

const pollEveryMs = 50
const outputCharsMax = 2_000

export interface DetachedProcess {
  readonly pid: number
  /** What it printed when it was ready. */
  readonly report: string
}

/** Throws with the end of its output if it ends before it is ready. It continues when the signal is aborted. */
export async function startDetached(
  program: readonly string[],
  logPath: string,
  signal: AbortSignal,
): Promise<DetachedProcess> {
  await mkdir(dirname(logPath), { recursive: true })
  // Another process may still write to it.
  const log = await open(logPath, 'a', 0o600)
  const { size: start } = await log.stat()
  const [command = '', ...args] = program
  const child = spawn(command, args, { detached: true, stdio: ['ignore', log.fd, log.fd] })
  try {
    await once(child, 'spawn')
  } finally {
    await log.close()
  }
  child.unref()
  for (;;) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null
    const output = (await readFile(logPath)).subarray(start).toString()
    const report = detachedReport(output)
    if (report !== undefined && !hasEnded) return { pid: child.pid ?? 0, report }
    if (hasEnded) throw new Error(`it has ended before it was ready: ${ownError(output.slice(-outputCharsMax).trim())}`)
    await realClock.sleep(pollEveryMs, signal)
  }
}

/** Without the name of the command, which this process prints too. */
const ownError = (output: string): string => output.replace(/^coxswain up: /, '')
