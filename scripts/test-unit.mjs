// The unit tests in several processes: loading the code takes longer than most tests, so the files of a share run in one
// process. Their coverage is compared with the floors of coverage-floors.json; `--raise-floors` raises these.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkCoverage } from './coverage.mjs'
import { atOnce, runAtOnce } from './run-at-once.mjs'

/** More shares than processes: which files are slow varies, and a finished share makes room for the next. */
const shares = 3 * atOnce
/** A test that takes longer hangs; on half a busy core the slowest test takes a minute. */
const testMsMax = 300_000

const coverageDirectory = mkdtempSync(join(tmpdir(), 'coxswain-coverage-'))
try {
  const results = await runAtOnce(
    Array.from({ length: shares }, (_, index) => ({
      args: [
        '--test',
        '--test-isolation=none',
        `--test-timeout=${testMsMax}`,
        `--test-shard=${index + 1}/${shares}`,
        'src/**/*.test.ts',
      ],
      env: { NODE_V8_COVERAGE: coverageDirectory },
    })),
  )
  const failed = results.some(({ code }) => code !== 0)
  // Coverage of failed tests would be misleading.
  process.exitCode = failed ? 1 : checkCoverage(coverageDirectory, process.argv.includes('--raise-floors'))
} finally {
  rmSync(coverageDirectory, { recursive: true, force: true })
}
