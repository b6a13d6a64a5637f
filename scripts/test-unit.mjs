// The unit tests in several processes: loading the code takes longer than most tests, so the files of a share run in one
// process. With `--coverage` their coverage is compared with the floors of coverage-floors.json, which takes half as long
// again; `--raise-floors` raises the floors.
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkCoverage } from './coverage.mjs'
import { atOnce, root, runAtOnce } from './run-at-once.mjs'

/** More shares than processes: which files are slow varies, and a finished share makes room for the next. */
const shares = 3 * atOnce
/** A test that takes longer is hanging; on half a busy core the slowest test takes a minute. */
const testMsMax = 300_000

/** Tests of recorded exchanges in one process. They count for the coverage of the code that they are the tables of. */
const recordedTables = [
  'test/aggregation/aggregation.test.ts',
  'test/aggregation/exchanges.test.ts',
  'test/custom-resources/exchanges.test.ts',
  'test/services/exchanges.test.ts',
  'test/storage-exchanges/exchanges.test.ts',
]

/**
 * Files that measure the heap have a process of their own: a collection takes as long as the heap is large, and a share with
 * hundreds of files has a heap of 500 MB.
 */
const [measuringHeap = [], others = []] = [true, false].map((measures) =>
  globSync('src/**/*.test.ts', { cwd: root })
    .toSorted()
    .filter((path) => readFileSync(join(root, path), 'utf8').includes('--expose-gc') === measures),
)

const raises = process.argv.includes('--raise-floors')
const measuresCoverage = raises || process.argv.includes('--coverage')
const coverageDirectory = mkdtempSync(join(tmpdir(), 'coxswain-coverage-'))
try {
  const command = (files, ...options) => ({
    args: [
      '--test',
      '--test-isolation=none',
      // The loop of a test that has failed may never end.
      '--test-force-exit',
      `--test-timeout=${testMsMax}`,
      ...options,
      ...files,
    ],
    env: measuresCoverage ? { NODE_V8_COVERAGE: coverageDirectory } : {},
  })
  const shared = [...others, ...(measuresCoverage ? recordedTables : [])]
  const results = await runAtOnce([
    command(measuringHeap),
    ...Array.from({ length: shares }, (_, index) => command(shared, `--test-shard=${index + 1}/${shares}`)),
  ])
  const failed = results.some(({ code }) => code !== 0)
  // Coverage of failed tests would be misleading.
  if (failed) process.exitCode = 1
  else if (measuresCoverage) process.exitCode = checkCoverage(coverageDirectory, raises)
} finally {
  rmSync(coverageDirectory, { recursive: true, force: true })
}
