// The budget of all patterns of one object. Validation is synchronous, so there is one at a time.
import type { MatchBudget } from '../../schema/schema-pattern.ts'

/** Each is about 20 ms. An ordinary pattern needs a few hundred steps once, and none for further texts. */
const directMax = 50_000
const stepsMax = 100_000

export const matchBudget: MatchBudget = { direct: directMax, steps: stepsMax }

/** To be called before an object is validated. */
export function refillMatchBudget(): void {
  matchBudget.direct = directMax
  matchBudget.steps = stepsMax
}
