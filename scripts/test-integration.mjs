// The integration tests. Files that use nothing outside their process share few processes, because loading the code takes longer
// than most of them. Every other file has its own process, and its own namespaces if it asks for them. Many files wait for
// containers or for time to pass, so further files run while a processor is idle.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inNamespacesCommand, namespacesMarker } from './namespaces.mjs'
import { atOnce, root, runAtOnce } from './run-at-once.mjs'

/** With more, browsers and accelerated clocks exceed their time limits when all processes are busy at the same time. */
const filesAtOnceMax = 2 * atOnce
// With COXSWAIN_LONG=1 tests take up to hours, and a file enters its namespaces itself, with its own time limits.
const isLong = process.env.COXSWAIN_LONG === '1'
/** A test that takes longer is hanging; some have a longer limit of their own. */
const testMsMax = isLong ? 12 * 3_600_000 : 300_000
/** More shares than processes: a finished share makes room for the next. */
const shares = 3 * atOnce

const inSharedProcesses = [
  'test/aggregation/{aggregation,exchanges}.test.ts',
  'test/attach-detach/*.test.ts',
  'test/claim-retention/*.test.ts',
  'test/conformance/**/*.test.ts',
  'test/controllers/{leader,namespace-deletion}.test.ts',
  'test/csi/{matrix,restarts}.test.ts',
  'test/custom-resources/{exchanges,own-projects,page,real-projects}.test.ts',
  'test/end-to-end/{component-permissions,restart,service-account,virtual-clock}.test.ts',
  'test/flows/*.test.ts',
  'test/histories/check-history.test.ts',
  'test/horizontal-pod-autoscaler/decisions.test.ts',
  'test/metrics/*.test.ts',
  'test/persistent-volumes/*.test.ts',
  'test/scheduler/{endless-workload,extender,placement,preemption,scenarios}.test.ts',
  'test/scripts/bench.test.ts',
  'test/services/{exchanges,page,shop}.test.ts',
  'test/storage-exchanges/*.test.ts',
  'test/ui/screenshots/compare.test.ts',
  'test/volume-scheduling/*.test.ts',
]
const inOwnProcess = globSync('test/**/*.test.ts', {
  cwd: root,
  exclude: ['test/{simulation,tidy}/**', ...inSharedProcesses],
}).toSorted()

const options = ['--test', `--test-timeout=${testMsMax}`]
const share = (index) => ({
  name: `share ${index} of ${shares}`,
  args: [
    ...options,
    '--test-isolation=none',
    // The loop of a test that has failed may never end.
    '--test-force-exit',
    `--test-shard=${index}/${shares}`,
    ...inSharedProcesses,
  ],
})
const ownProcess = (path) =>
  !isLong && readFileSync(join(root, path), 'utf8').includes('\ninNamespaces(')
    ? {
        name: path,
        ...inNamespacesCommand(process.execPath, ...options, path),
        env: { [namespacesMarker]: '1' },
      }
    : { name: path, args: [...options, '--test-isolation=none', path] }

const named = process.argv.slice(2)
const results = await runAtOnce(
  named.length > 0
    ? named.map(ownProcess)
    : [...Array.from({ length: shares }, (_, index) => share(index + 1)), ...inOwnProcess.map(ownProcess)],
  filesAtOnceMax,
)

/** A number of the summaries of Node.js's reporter, of all processes. */
const total = (what) =>
  results
    .flatMap(({ output }) => [...output.matchAll(new RegExp(`^ℹ ${what} (\\d+)$`, 'gmu'))])
    .reduce((sum, [, count]) => sum + Number(count), 0)
const slowest = results.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10)
console.log(`the slowest: ${slowest.map(({ name, seconds }) => `${name} ${seconds.toFixed(0)} s`).join(', ')}`)
const failed = results.filter(({ code }) => code !== 0)
console.log(`${total('tests')} tests: ${total('pass')} passed, ${total('fail')} failed`)
console.log(`${results.length} processes: ${failed.length} failed`)
for (const { name, output } of failed)
  console.error(`failed: ${name}\n${output.slice(Math.max(0, output.indexOf('✖ failing tests:')))}`)
process.exitCode = failed.length === 0 ? 0 : 1
