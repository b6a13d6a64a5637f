import { deepEqual, match } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../base/observability/metrics.ts'
import { policyWith } from './network-policy.harness.ts'
import { policyReports } from './policy-reports.ts'

test('a policy that is not enforced as written is an event and a count', () => {
  const registry = new Metrics()
  const events: string[] = []
  const record = (object: { metadata: { name: string } }, note: { type: string; reason: string; message: string }) =>
    void events.push(`${object.metadata.name} ${note.type} ${note.reason}: ${note.message}`)
  policyReports({ record }, registry, 'node-a').notEnforced(policyWith('x/p', { podSelector: {} }), 'no memory')
  deepEqual(events, [
    'p Warning NetworkPolicyNotEnforced: node node-a isolates the pods of the policy but allows nothing by its rules: no memory',
  ])
  match(registry.text(), /^coxswain_network_policy_not_enforced_total 1$/m)
})
