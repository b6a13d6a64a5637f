// The integration tests. Files that use nothing outside their process share few processes, because loading the code takes longer
// than most of them. Every other file has its own process.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { atOnce, environment, root, runAtOnce } from './run-at-once.mjs'

/** With more, browsers and accelerated clocks exceed their time limits, and the processors are busy anyway. */
const filesAtOnce = 2
/** A test that takes longer is hanging; some have a longer limit of their own. */
const testMsMax = 300_000

const inSharedProcesses = [
  'test/aggregation/{aggregation,exchanges}.test.ts',
  'test/attach-detach/*.test.ts',
  'test/claim-retention/*.test.ts',
  'test/flows/*.test.ts',
]
const inOwnProcess = globSync('test/**/*.test.ts', {
  cwd: root,
  exclude: ['test/{simulation,tidy}/**', ...inSharedProcesses],
}).toSorted()

const shared = await runAtOnce(
  Array.from({ length: atOnce }, (_, index) => ({
    args: [
      '--test',
      '--test-isolation=none',
      // The loop of a test that has failed may never end.
      '--test-force-exit',
      `--test-timeout=${testMsMax}`,
      `--test-shard=${index + 1}/${atOnce}`,
      ...inSharedProcesses,
    ],
  })),
)
const { status } = spawnSync(
  process.execPath,
  ['--test', `--test-timeout=${testMsMax}`, `--test-concurrency=${filesAtOnce}`, ...inOwnProcess],
  { cwd: root, env: environment, stdio: 'inherit' },
)
process.exitCode = status === 0 && shared.every(({ code }) => code === 0) ? 0 : 1
