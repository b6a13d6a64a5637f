// Runs the simulation with new seeds: `node scripts/simulate.mjs [number of seeds]`. Prints the command that repeats each
// seed that failed.
import { randomInt } from 'node:crypto'
import { runAtOnce } from './run-at-once.mjs'

const testFile = 'test/simulation/simulation.test.ts'
const seedsDefault = 50
/** Seeds per process: few, so that a failure is printed early. */
const seedsOfProcess = 5
const seedMsMax = 300_000

const count = Number(process.argv[2] ?? seedsDefault)
const first = randomInt(2 ** 31)
console.log(`simulation of ${count} seeds from ${first} on`)
const commands = []
for (let done = 0; done < count; done += seedsOfProcess) {
  const last = first + Math.min(done + seedsOfProcess, count) - 1
  commands.push({
    args: ['--test', '--test-isolation=none', `--test-timeout=${seedMsMax}`, testFile],
    env: { COXSWAIN_SEED: `${first + done}-${last}` },
  })
}
const results = await runAtOnce(commands)
const failed = new Set(results.flatMap(({ output }) => [...output.matchAll(/✖ seed (\d+)/g)].map(([, seed]) => seed)))
for (const seed of failed) console.error(`repeat it with: COXSWAIN_SEED=${seed} npm run test:one -- ${testFile}`)
process.exitCode = results.some(({ code }) => code !== 0) ? 1 : 0
