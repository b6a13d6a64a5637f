// Which endpoint a client keeps, for how long, and how many clients are remembered.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { SessionAffinity } from './session-affinity.ts'

test('a client keeps its endpoint until the timeout after its last connection', async () => {
  const clock = new VirtualClock()
  const affinity = new SessionAffinity(clock)
  equal(affinity.endpointOf('a', 10), undefined)
  affinity.remember('a', 'one')
  await clock.advance(9_999)
  equal(affinity.endpointOf('a', 10), 'one')
  await clock.advance(1)
  equal(affinity.endpointOf('a', 10), undefined)
})

test('beyond 10,000 clients, the one whose last connection is oldest is forgotten', () => {
  const affinity = new SessionAffinity(new VirtualClock())
  for (let index = 0; index < 10_000; index++) affinity.remember(`client-${index}`, 'one')
  affinity.remember('client-0', 'one')
  affinity.remember('one-more', 'one')
  equal(affinity.endpointOf('client-0', 10), 'one')
  equal(affinity.endpointOf('client-1', 10), undefined)
  equal(affinity.endpointOf('one-more', 10), 'one')
})
