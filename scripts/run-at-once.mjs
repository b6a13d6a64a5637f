// Runs several Node.js processes, as many at once as there are processors. The output of a process is printed when it
// ends, so that outputs do not mix. One that does not end is killed: what it has printed shows where it hangs.
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
export const atOnce = Math.min(availableParallelism(), 4)

/** Processes that load the same code share what V8 has compiled. */
export const environment = { ...process.env, NODE_COMPILE_CACHE: `${root}node_modules/.cache/compile` }

const processMinutesMax = 20

function run({ args, env }) {
  const node = spawn(process.execPath, args, {
    cwd: root,
    env: { ...environment, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks = []
  node.stdout.on('data', (chunk) => chunks.push(chunk))
  const limit = setTimeout(() => {
    chunks.push(Buffer.from(`✖ killed: it has not ended after ${processMinutesMax} minutes: node ${args.join(' ')}\n`))
    node.kill('SIGKILL')
  }, processMinutesMax * 60_000)
  return new Promise((resolve) =>
    node.on('close', (code) => {
      clearTimeout(limit)
      const output = Buffer.concat(chunks).toString()
      process.stdout.write(output)
      resolve({ code: code ?? 1, output })
    }),
  )
}

/** `commands`: arguments and environment of each process. Returns exit codes and outputs in the order of completion. */
export async function runAtOnce(commands) {
  const waiting = [...commands]
  const results = []
  const runner = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results.push(await run(next))
  }
  await Promise.all(Array.from({ length: atOnce }, runner))
  return results
}
