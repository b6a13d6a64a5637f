// Which containers are counted as ended, and that each is counted once.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { TerminatedContainers } from './terminated-containers.ts'

const ended = (containerID: string, exitCode = 0, reason = 'Completed') => ({
  terminated: { containerID, exitCode, reason },
})
const status = (states: object, field = 'containerStatuses') =>
  ({ [field]: [{ name: 'c', ...states }] }) as unknown as Pod['status']
const podWith = (known: Pod['status']) => ({ status: known }) as Pod
const nothing = status({ state: { running: {} } })

test('an ended container is counted once, by type, exit code and reason', () => {
  const containers = new TerminatedContainers()
  const state = { countedIds: undefined }
  for (let report = 0; report < 3; report++)
    containers.count(podWith(nothing), status({ state: ended('a', 139, 'Error') }), state)
  containers.count(podWith(nothing), status({ state: ended('i') }, 'initContainerStatuses'), { countedIds: undefined })
  deepEqual(containers.samples(), [
    [{ container_type: 'container', exit_code: '139', reason: 'Error' }, 1],
    [{ container_type: 'init_container', exit_code: '0', reason: 'Completed' }, 1],
  ])
})

test('a container that was restarted before its end was reported is counted', () => {
  const containers = new TerminatedContainers()
  const state = { countedIds: undefined }
  containers.count(podWith(nothing), status({ state: { running: {} }, lastState: ended('a', 1, 'Error') }), state)
  containers.count(
    podWith(nothing),
    status({ state: ended('b', 1, 'Error'), lastState: ended('a', 1, 'Error') }),
    state,
  )
  deepEqual(containers.samples(), [[{ container_type: 'container', exit_code: '1', reason: 'Error' }, 2]])
})

test('a container whose end was reported before the kubelet restarted is not counted again', () => {
  const containers = new TerminatedContainers()
  const known = status({ state: ended('a') })
  containers.count(podWith(known), known, { countedIds: undefined })
  deepEqual(containers.samples(), [])
})
