// The unit tests, spread over a few processes: loading the code takes longer than most tests, so the files of a share
// run in one process. What a share says is shown when it ends, so that two do not speak at once.
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const atOnce = Math.min(availableParallelism(), 4)
/** More than run at once: which files are slow depends on chance, and a share that is done makes room for the next. */
const shares = 3 * atOnce
/** What hangs is cut off; on half a busy core the slowest test takes a minute. */
const testMsMax = 300_000

function run(share) {
  const node = spawn(
    process.execPath,
    [
      '--test',
      '--test-isolation=none',
      `--test-timeout=${testMsMax}`,
      `--test-shard=${share}/${shares}`,
      'src/**/*.test.ts',
    ],
    {
      cwd: root,
      env: { ...process.env, NODE_COMPILE_CACHE: `${root}node_modules/.cache/compile` },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const said = []
  node.stdout.on('data', (piece) => said.push(piece))
  return new Promise((resolve) =>
    node.on('close', (code) => {
      process.stdout.write(Buffer.concat(said))
      resolve(code ?? 1)
    }),
  )
}

let next = 1
const codes = []
const runner = async () => {
  while (next <= shares) codes.push(await run(next++))
}
await Promise.all(Array.from({ length: atOnce }, runner))
process.exitCode = Math.max(...codes)
