// The strategies by which coordinated leader election chooses the holder of a Lease.
import { invalid, notSupported, type FieldError } from '../../schema/validation/field-error.ts'
import { qualifiedNameErrors } from '../validation/names.ts'

/** The candidate with the lowest emulation version, then the lowest binary version, then the oldest one. */
export const oldestEmulationVersion = 'OldestEmulationVersion'

const strategies = [oldestEmulationVersion]

/** A strategy of Kubernetes, or one with a domain prefix. Upstream repeats the field in the path. */
export function validateLeaseStrategy(strategy: string): FieldError[] {
  const path = 'spec.strategy.strategy'
  if (strategy.includes('/')) return qualifiedNameErrors(strategy).map((detail) => invalid(path, strategy, detail))
  return strategies.includes(strategy) ? [] : [notSupported(path, strategy, strategies)]
}
