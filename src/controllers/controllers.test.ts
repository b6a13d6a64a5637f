// The list of controllers, and what holds for every one of them.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../base/observability/metrics.ts'
import { controllers } from './controllers.ts'
import { controllerMetrics } from './runtime/start-controller.ts'

test('the controllers are listed in the order of the alphabet, each under a name of its own and the account of its role', () => {
  const names = controllers.map(({ name }) => name)
  deepEqual(names, names.toSorted())
  equal(new Set(names).size, names.length)
  const accounts = Object.groupBy(controllers, ({ account }) => account)
  const shared = Object.values(accounts).filter((each = []) => each.length > 1)
  deepEqual(
    shared.map((each = []) => each.map(({ name }) => name)),
    [
      ['certificate-approving', 'certificate-cleaning', 'certificate-signing'],
      ['job', 'job-orphans'],
      ['node-ipam', 'node-lifecycle', 'taint-eviction'],
      ['pod-disruption-budget', 'stale-disruption'],
      ['pod-resource-claim', 'resource-claim'],
    ],
  )
  controllerMetrics(new Metrics()).depth.set({ name: 'x' }, 1)
})
