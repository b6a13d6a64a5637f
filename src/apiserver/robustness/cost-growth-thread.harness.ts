// The thread of the cost test: measures each step for each list and map of each kind that a client can make longer, and
// posts the steps whose cost grows faster than the input.
import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { gunzipSync } from 'node:zlib'
import { kinds } from '../../api/kinds.ts'
import type { JsonObject } from '../../schema/json/json-value.ts'
import { goodBody, grown, longPlaces, type Growth } from './cost-growth.harness.ts'
import { stepsOfKinds, stepsOfTypes, subjectOf, type Subject } from './cost-steps.harness.ts'
import { startCounting, visitsOf } from './visit-counter.harness.ts'

export interface CostOptions {
  readonly count: number
  /** How much more the second doubling may add than the first: 2 is linear, 4 is quadratic. */
  readonly growthMax: number
  /** Kinds for which the derivations of their types are measured too; undefined for all. */
  readonly typeKinds: readonly string[] | undefined
}

interface Sample {
  readonly sent: unknown
  readonly status: number
}

const facts = new URL('../../../test/facts/', import.meta.url)
const samples = (
  JSON.parse(gunzipSync(readFileSync(new URL('validation.json.gz', facts))).toString()) as Sample[]
).filter(({ status }) => status < 300)

const { count, growthMax, typeKinds } = workerData as CostOptions

/** The cost of a step for one, two and four times the input; NaN if it cannot run. */
function costs(step: (subject: Subject) => unknown, subjects: readonly Subject[]): readonly number[] {
  // One-time work, such as compiling the functions of a type, is done before.
  return [...subjects.slice(0, 1), ...subjects].map((subject) =>
    visitsOf(() => {
      try {
        step(subject)
      } catch (error) {
        // Bodies are long, but not valid: a step may reject them. Other errors are bugs.
        if (error instanceof RangeError || error instanceof ReferenceError) throw error
      }
    }),
  )
}

const variants: Readonly<Record<string, Omit<Growth, 'count'>>> = {
  '': { areEqual: false, isSurrounded: false },
  ' of equal items': { areEqual: true, isSurrounded: false },
  ' among long lists': { areEqual: false, isSurrounded: true },
}

startCounting()
const found: string[] = []
let measured = 0
const seen = new Set<string>()
for (const kind of kinds) {
  const good = goodBody(kind, samples)
  const isWhole = typeKinds === undefined || typeKinds.includes(kind.kind)
  const steps = isWhole ? { ...stepsOfKinds, ...stepsOfTypes } : stepsOfKinds
  const surrounded = new Set<string>()
  for (const place of longPlaces(kind, seen))
    for (const [how, variant] of Object.entries(variants)) {
      // All lists of one message are long together, so one measurement is enough.
      const message = place.slice(0, -1).join('.')
      if (variant.isSurrounded && surrounded.has(message)) continue
      if (variant.isSurrounded) surrounded.add(message)
      const subjects = [1, 2, 4].flatMap((times) => {
        const growth: Growth = { count: count * times, ...variant }
        try {
          return [subjectOf(kind, grown(kind, good, place, growth) as JsonObject)]
        } catch {
          return [] // the value is rejected before it is decoded
        }
      })
      if (subjects.length < 3) continue
      for (const [name, step] of Object.entries(steps)) {
        const [, one = 0, two = 0, four = 0] = costs(step, subjects)
        measured++
        // Both must grow: a list that is rejected above some length causes steps in the numbers.
        const isSteep = four - two > growthMax * (two - one) && four > 2.5 * two
        if (two - one > count && isSteep)
          found.push(`${kind.kind} ${place.join('.')}${how}: ${name}: ${one}, ${two}, ${four}`)
      }
    }
}
parentPort?.postMessage({ found, measured })
