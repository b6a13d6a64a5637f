import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { PodProtection } from './pod-protection.ts'

const { signal } = new AbortController()
const pod = { metadata: { name: 'a' } } as unknown as Pod

test('a pod that starts before the agent waits for it', async () => {
  const protection = new PodProtection(true)
  const asked: (readonly string[])[] = []
  let isDone = false
  const waiting = protection.protect(pod, ['10.244.0.2'], signal).then(() => (isDone = true))
  await Promise.resolve()
  equal(isDone, false)
  const agent = { protect: (_: Pod, addresses: readonly string[]) => Promise.resolve(void asked.push(addresses)) }
  protection.use(agent)
  await waiting
  deepEqual(asked, [['10.244.0.2']])
})

for (const [name, make] of [
  ['the runtime has its own network', () => new PodProtection(false)],
  [
    'another CNI plugin is configured',
    () => {
      const protection = new PodProtection(true)
      protection.giveUp()
      return protection
    },
  ],
] as const)
  test(`a pod does not wait if ${name}`, () => make().protect(pod, [], signal))
