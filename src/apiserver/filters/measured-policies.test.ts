import { deepEqual, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { AccessAttributes } from '../authorization/attributes.ts'
import { AccessMetrics } from '../metrics/access-metrics.ts'
import type { ApiRequest } from '../request/request.ts'
import { measuredPolicies } from './measured-policies.ts'
import type { Policies } from './policies.ts'

test('checks of access are counted by result, whether they are synchronous or not', async () => {
  const metrics = new Metrics()
  const failure = new Error('unavailable')
  const results: (() => unknown)[] = []
  const next = () => results.shift()?.()
  const policies = { authenticate: next, authorize: next } as unknown as Policies
  const measured = measuredPolicies(policies, new AccessMetrics(metrics), new VirtualClock())
  const authenticate = (result: () => unknown): unknown => {
    results.push(result)
    return measured.authenticate({} as ApiRequest)
  }
  const authorize = (result: () => unknown): unknown => {
    results.push(result)
    return measured.authorize({} as AccessAttributes, new AbortController().signal)
  }
  const fail = () => {
    throw failure
  }
  deepEqual(
    authenticate(() => ({ kind: 'authenticated' })),
    { kind: 'authenticated' },
  )
  await authenticate(() => Promise.resolve({ kind: 'rejected' }))
  authenticate(() => ({ kind: 'unknown' }))
  throws(() => authenticate(fail), failure)
  authorize(() => ({ kind: 'allowed' }))
  await authorize(() => Promise.resolve({ kind: 'denied' }))
  authorize(() => ({ kind: 'noOpinion' }))
  await rejects(async () => authorize(() => Promise.reject(failure)), failure)
  throws(() => authorize(fail), failure)
  deepEqual(counted(metrics), [
    'authenticated_user_requests{username="other"} 1',
    'authentication_attempts{result="success"} 1',
    'authentication_attempts{result="error"} 2',
    'authentication_attempts{result="failure"} 1',
    'authorization_attempts_total{result="allowed"} 1',
    'authorization_attempts_total{result="denied"} 1',
    'authorization_attempts_total{result="no-opinion"} 1',
    'authorization_attempts_total{result="error"} 2',
  ])
})

const counted = (metrics: Metrics): string[] =>
  metrics
    .text()
    .split('\n')
    .filter((line) => /^auth\w+_(attempts|requests)/.test(line) && !line.endsWith(' 0'))
