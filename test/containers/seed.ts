// withSeed: a random source for a test with real processes. Each run has a new seed; a failure prints it, and
// COXSWAIN_SEED=<n> sets it.
import { seededRandom, systemRandom, type SeededRandom } from '../../src/base/random/random.ts'

const seedMax = 2 ** 31

export async function withSeed(run: (random: SeededRandom) => Promise<void>): Promise<void> {
  const seed = Number(process.env['COXSWAIN_SEED'] ?? systemRandom.below(seedMax))
  try {
    await run(seededRandom(seed))
  } catch (error) {
    throw new Error(`repeat it with COXSWAIN_SEED=${seed}: ${(error as Error).message}`, { cause: error })
  }
}
