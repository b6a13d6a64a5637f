// Runs several Node.js processes, as many at once as there are processors; more while a processor is idle, if the caller
// allows it. The output of a process is printed when it ends, so that outputs do not mix. One that does not end is
// killed with its descendants: what it has printed, and which they are, show where it hangs.
import { spawn } from 'node:child_process'
import { availableParallelism, cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { processTree } from './namespaces.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url))
export const atOnce = Math.min(availableParallelism(), 4)

/** Processes that load the same code share what V8 has compiled. */
export const environment = { ...process.env, NODE_COMPILE_CACHE: `${root}node_modules/.cache/compile` }

const isLong = process.env.COXSWAIN_LONG === '1'
const processMinutesMax = isLong ? 24 * 60 : 20
/** A killed process whose children hold its pipe would otherwise never be reported. */
const pipeMsMax = 5_000

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

function run({ name, program = process.execPath, args, env }) {
  const child = spawn(program, args, {
    cwd: root,
    env: { ...environment, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk))
  const startMs = performance.now()
  return new Promise((resolve) => {
    let hasEnded = false
    const end = (code) => {
      if (hasEnded) return
      hasEnded = true
      clearTimeout(limit)
      const output = Buffer.concat(chunks).toString()
      const seconds = (performance.now() - startMs) / 1000
      process.stdout.write(`${name === undefined ? '' : `${name} (${seconds.toFixed(0)} s)\n`}${output}`)
      resolve({ name, code: code ?? 1, output, seconds })
    }
    const limit = setTimeout(() => {
      const what = `✖ killed: it has not ended after ${processMinutesMax} minutes: ${program} ${args.join(' ')}`
      const { pids, text } = processTree(child.pid)
      chunks.push(Buffer.from(`${what}\n${text}\n`))
      for (const pid of pids) kill(pid)
      setTimeout(end, pipeMsMax)
    }, processMinutesMax * 60_000)
    child.on('error', (error) => {
      chunks.push(Buffer.from(`✖ ${program} ${args.join(' ')}: ${error.message}\n`))
      end(1)
    })
    child.on('close', end)
  })
}

/** The time between two looks at the processors: a process that has just started is busy until the next one. */
const lookEveryMs = 3_000
/** How much of one processor must have been idle between two looks. */
const idlePartMin = 0.6

const idleMs = () => cpus().reduce((sum, { times }) => sum + times.idle, 0)

/**
 * `commands`: program (Node.js without one), arguments and environment of each process. Up to `most` processes run at once:
 * those beyond the number of processors start only while a processor is idle. Returns exit codes, outputs and times in the
 * order of completion.
 */
export async function runAtOnce(commands, most = atOnce) {
  const waiting = [...commands]
  const results = []
  const running = new Set()
  let look = { idle: idleMs(), atMs: performance.now() }
  const hasIdleProcessor = () => {
    const before = look
    if (performance.now() - before.atMs < lookEveryMs) return false
    look = { idle: idleMs(), atMs: performance.now() }
    return look.idle - before.idle > idlePartMin * (look.atMs - before.atMs)
  }
  const runNext = async () => void results.push(await run(waiting.shift()))
  while (waiting.length > 0 || running.size > 0) {
    if (waiting.length > 0 && (running.size < atOnce || (running.size < most && hasIdleProcessor()))) {
      const ended = runNext().finally(() => running.delete(ended))
      running.add(ended)
      look = { idle: idleMs(), atMs: performance.now() }
    } else {
      const looks = waiting.length > 0 && running.size < most ? [sleep(lookEveryMs + 1)] : []
      await Promise.race([...running, ...looks])
    }
  }
  return results
}
