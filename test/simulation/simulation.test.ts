// Seeded simulation on the virtual clock: a mixed workload with changes, conflicts, restarts of every component, broken
// watches and dead nodes. Safety is checked after every step, convergence at the end. COXSWAIN_SEED=<n> runs one seed,
// <n>-<m> a range; COXSWAIN_LONG=1 runs a thousand. scripts/simulate.mjs runs 50 new seeds in several processes.
import { test } from 'node:test'
import { checkConvergence, checkSafety } from './checks.ts'
import { checkGuards, checkSettledGuards, guardActions, startGuards } from './guards.ts'
import { checkVolumes, checkSettledVolumes, volumeActions } from './volumes.ts'
import { actions, faults, repair, startWorld, type World } from './world.ts'

const stepsMax = 40
const invariantActions = [...guardActions, ...volumeActions]
const seedsShort = 4
const seedsLong = 1000

async function simulate(seed: number): Promise<void> {
  const world = await startWorld(seed)
  await using _cluster = world.cluster
  const { cluster, random } = world
  await startGuards(world)
  await cluster.clock.advance('3s')
  for (let step = 0; step < stepsMax; step++) {
    const acts = random.below(3) === 0 ? faults : random.below(3) === 0 ? invariantActions : actions
    await acts[random.below(acts.length)]?.(world)
    // Steps are short, so that transient states are checked too.
    for (let part = 0; part < 3; part++) {
      await cluster.clock.advance(10 + random.below(700))
      repair(world, false)
      await checkSafety(world)
      await checkGuards(world)
      await checkVolumes(world)
    }
  }
  repair(world, true)
  await settle(world)
  await checkConvergence(world)
  await checkSettledGuards(world)
  await checkSettledVolumes(world)
}

async function settle(world: World): Promise<void> {
  for (let minute = 0; minute < 20; minute++) {
    await world.cluster.clock.advance('1m')
    await checkSafety(world)
    await checkGuards(world)
  }
}

/** `7`, or `7-90` for a range. */
const chosen = process.env['COXSWAIN_SEED'] ?? `1-${process.env['COXSWAIN_LONG'] === '1' ? seedsLong : seedsShort}`
const [first = 1, last = first] = chosen.split('-').map(Number)
const seeds = Array.from({ length: last - first + 1 }, (_, index) => first + index)

for (const seed of seeds)
  test(`seed ${seed}`, async () => {
    try {
      await simulate(seed)
    } catch (error) {
      const command = `COXSWAIN_SEED=${seed} npm run test:one -- test/simulation/simulation.test.ts`
      throw new Error(`${(error as Error).message}\nrepeat it with: ${command}`, { cause: error })
    }
  })
