import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { addDebugContainer, debugOffer } from './debug-container.ts'
import type { CallApi } from './workload-calls.ts'

const { signal } = new AbortController()

const reading = (pod: object): CallApi => ({
  read: async () => pod,
  delete: async () => undefined,
  patch: async () => undefined,
})
const named = (...names: readonly string[]) => names.map((name) => ({ name }))

const offers: readonly [what: string, spec: object, name: string, targets: readonly string[]][] = [
  ['of a pod without one', { containers: named('app', 'side') }, 'debugger-1', ['app', 'side']],
  [
    'of a pod that has had some',
    { containers: named('app'), ephemeralContainers: named('debugger-1', 'debugger-2') },
    'debugger-3',
    ['app'],
  ],
  [
    'of a pod whose containers have such names',
    { containers: named('debugger-1'), initContainers: named('debugger-2') },
    'debugger-3',
    ['debugger-1'],
  ],
]
for (const [what, spec, name, targets] of offers)
  test(`the name of a debug container ${what}`, async () =>
    deepEqual(await debugOffer(reading({ spec }), '/api/v1/namespaces/a/pods/b', signal), { name, targets }))

test('a pod without containers offers none', async () =>
  deepEqual((await debugOffer(reading({}), '/pod', signal)).targets, []))

test('a debug container is added to the ephemeral containers of the pod', async () => {
  const sent: unknown[] = []
  const api = { ...reading({}), patch: async (...call: readonly unknown[]) => void sent.push(call.slice(0, 3)) }
  const choice = { name: 'debugger-1', image: 'busybox' }
  const container = {
    ...choice,
    stdin: true,
    tty: true,
    terminationMessagePolicy: 'File',
    securityContext: { capabilities: { add: ['SYS_PTRACE'] } },
  }
  await addDebugContainer(api, '/pod', { ...choice, target: 'app' }, signal)
  await addDebugContainer(api, '/pod', { ...choice, target: '' }, signal)
  const type = 'application/strategic-merge-patch+json'
  const patchOf = (each: object) => ({ spec: { ephemeralContainers: [each] } })
  deepEqual(sent, [
    ['/pod/ephemeralcontainers', type, patchOf({ ...container, targetContainerName: 'app' })],
    ['/pod/ephemeralcontainers', type, patchOf(container)],
  ])
})
