// measuredPolicies: policies whose authentication and authorization are measured. Reviews, which are requests themselves,
// are not.
import type { Clock } from '../../base/time/clock.ts'
import type { AccessMetrics } from '../metrics/access-metrics.ts'
import type { Policies } from './policies.ts'

export const measuredPolicies = (policies: Policies, access: AccessMetrics, clock: Clock): Policies => {
  const since = (startMs: number): number => (clock.monotonicMs() - startMs) / 1000
  return {
    ...policies,
    authenticate(request) {
      const startMs = clock.monotonicMs()
      const failed = (error: unknown): never => {
        access.authenticationFailed(since(startMs))
        throw error
      }
      let found: ReturnType<Policies['authenticate']>
      try {
        found = policies.authenticate(request)
      } catch (error) {
        return failed(error)
      }
      if (found instanceof Promise) return found.then((known) => access.authentication(known, since(startMs)), failed)
      return access.authentication(found, since(startMs))
    },
    authorize(attributes, signal) {
      const startMs = clock.monotonicMs()
      const failed = (error: unknown): never => {
        access.authorizationFailed(since(startMs))
        throw error
      }
      let decision: ReturnType<Policies['authorize']>
      try {
        decision = policies.authorize(attributes, signal)
      } catch (error) {
        return failed(error)
      }
      if (decision instanceof Promise)
        return decision.then((known) => access.authorization(known, since(startMs)), failed)
      return access.authorization(decision, since(startMs))
    },
  }
}
