import type { Random } from '../../base/random/random.ts'
import type { WeightedBackend } from './route.ts'

/** A backend, with a probability in proportion to its weight. Undefined if all weights are 0. */
export function selectBackend(backends: readonly WeightedBackend[], random: Random): WeightedBackend | undefined {
  const [first] = backends
  if (backends.length === 1) return first !== undefined && first.weight > 0 ? first : undefined
  const total = backends.reduce((sum, { weight }) => sum + weight, 0)
  let left = random.fraction() * total
  return backends.find(({ weight }) => weight > 0 && (left -= weight) < 0)
}
