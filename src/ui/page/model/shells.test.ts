import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { shellsOf } from './shells.ts'

const debugging = { name: 'debugger-1', stdin: true, tty: true }
const podWith = (state: object | undefined) => ({
  metadata: { name: 'web' },
  spec: { containers: [{ name: 'c' }], ephemeralContainers: [debugging] },
  status: state === undefined ? {} : { ephemeralContainerStatuses: [{ name: 'debugger-1', state }] },
})

const waits: readonly [state: object | undefined, text: string][] = [
  [undefined, 'The container starts…'],
  [{ waiting: {} }, 'The container starts…'],
  [{ waiting: { reason: 'ErrImagePull', message: 'not found' } }, 'The container starts… ErrImagePull: not found'],
  [{ running: { startedAt: '2026-01-01T00:00:00Z' } }, ''],
  [{ terminated: { exitCode: 3 } }, 'The container has ended with exit code 3. Debug adds another one.'],
  [{ terminated: {} }, 'The container has ended with exit code unknown. Debug adds another one.'],
]
for (const [state, text] of waits)
  test(`a debug container in the state ${JSON.stringify(state)}`, () =>
    deepEqual(shellsOf(podWith(state)), [
      { container: 'c', isAttached: false, waits: '' },
      { container: 'debugger-1', isAttached: true, waits: text },
    ]))

test('a shell is started in an ephemeral container without a terminal, and a pod without containers has none', () => {
  const spec = { ephemeralContainers: [{ name: 'e' }] }
  const status = { ephemeralContainerStatuses: [{ name: 'e', state: { running: {} } }] }
  deepEqual(shellsOf({ metadata: { name: 'web' }, spec, status }), [{ container: 'e', isAttached: false, waits: '' }])
  deepEqual(shellsOf({ metadata: { name: 'web' } }), [])
})
