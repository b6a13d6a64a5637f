import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { containerRows, stateText } from './container-rows.ts'

const pod = (spec: object, status?: object): Pod =>
  ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec, status }) as Pod

test('containers of all types have their own state', () => {
  const rows = containerRows(
    pod(
      {
        initContainers: [{ name: 'setup', image: 'busybox' }],
        containers: [{ name: 'main', image: 'nginx' }, { name: 'side' }],
        ephemeralContainers: [{ name: 'debug', image: 'sh' }],
      },
      {
        initContainerStatuses: [
          { name: 'setup', ready: false, restartCount: 0, state: { terminated: { exitCode: 0, reason: 'Completed' } } },
        ],
        containerStatuses: [{ name: 'main', ready: true, restartCount: 2, state: { running: {} } }],
        ephemeralContainerStatuses: [{ name: 'debug', restartCount: 0, state: { terminated: { exitCode: 3 } } }],
      },
    ),
  )
  deepEqual(
    rows.map(({ key, cells }) => [key, ...cells]),
    [
      ['init/setup', 'setup', 'init', '0/1', 'Completed', '0', 'busybox'],
      ['main/main', 'main', 'main', '1/1', 'Running', '2', 'nginx'],
      ['main/side', 'side', 'main', '0/1', 'Waiting', '0', ''],
      ['ephemeral/debug', 'debug', 'ephemeral', '0/1', 'Exited (3)', '0', 'sh'],
    ],
  )
})

test('a pod without a status has waiting containers', () =>
  deepEqual(
    containerRows(pod({ containers: [{ name: 'main', image: 'nginx' }] })).map(({ cells }) => cells[3]),
    ['Waiting'],
  ))

test('the reason of a waiting container is its state', () =>
  equal(stateText({ state: { waiting: { reason: 'ImagePullBackOff' } } } as never), 'ImagePullBackOff'))
