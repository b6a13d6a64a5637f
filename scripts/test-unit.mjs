// The unit tests in several processes: loading the code takes longer than most tests, so the files of a share run in one
// process. With `--coverage` their coverage is compared with the floors of coverage-floors.json, which takes half as long
// again; `--raise-floors` raises the floors.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkCoverage } from './coverage.mjs'
import { atOnce, runAtOnce } from './run-at-once.mjs'

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

const raises = process.argv.includes('--raise-floors')
const measuresCoverage = raises || process.argv.includes('--coverage')
const coverageDirectory = mkdtempSync(join(tmpdir(), 'coxswain-coverage-'))
try {
  const results = await runAtOnce(
    Array.from({ length: shares }, (_, index) => ({
      args: [
        '--test',
        '--test-isolation=none',
        // The loop of a test that has failed may never end.
        '--test-force-exit',
        `--test-timeout=${testMsMax}`,
        `--test-shard=${index + 1}/${shares}`,
        'src/**/*.test.ts',
        ...(measuresCoverage ? recordedTables : []),
      ],
      env: measuresCoverage ? { NODE_V8_COVERAGE: coverageDirectory } : {},
    })),
  )
  const failed = results.some(({ code }) => code !== 0)
  // Coverage of failed tests would be misleading.
  if (failed) process.exitCode = 1
  else if (measuresCoverage) process.exitCode = checkCoverage(coverageDirectory, raises)
} finally {
  rmSync(coverageDirectory, { recursive: true, force: true })
}
