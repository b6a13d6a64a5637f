// Findings of containers that simulated nodes do not have: killed by the kernel, refused by a registry, without values.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { whyPod } from './pod-explainer.ts'

const at = '2030-01-01T00:00:00Z'

const podOf = (container: object, status: object, spec: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'shop', uid: 'p' },
    spec: { nodeName: 'n', containers: [{ name: 'c', image: 'reg.example/i', resources: {}, ...container }], ...spec },
    status: {
      phase: 'Running',
      containerStatuses: [{ name: 'c', image: 'reg.example/i', restartCount: 0, ...status }],
    },
  }) as unknown as Pod

const ready = { metadata: { name: 'n' }, status: { conditions: [{ type: 'Ready', status: 'True' }] }, spec: {} }
const warningOf = (reason: string, message: string) => ({
  involvedObject: { uid: 'p', fieldPath: 'spec.containers{c}' },
  type: 'Warning',
  reason,
  message,
  lastTimestamp: at,
  count: 2,
})

const readerOf = (objects: Readonly<Record<string, readonly object[]>> = {}): ClusterReader => {
  const all = new Map<string, readonly object[]>(Object.entries({ nodes: [ready], ...objects }))
  return {
    list: ({ plural }) => Promise.resolve((all.get(plural) ?? []) as never),
    find: ({ plural }, _, name) =>
      Promise.resolve(all.get(plural)?.find((each) => (each as ApiObject).metadata.name === name) as never),
    lastOutput: () => Promise.resolve('one\ntwo\n'),
    nowMs: Date.parse(at) + 60_000,
  }
}

const ended = (reason: string, exitCode: number) => ({ terminated: { reason, exitCode, finishedAt: at } })
const waiting = (reason: string, message = '') => ({ ready: false, state: { waiting: { reason, message } } })
const limited = { resources: { limits: { memory: '64Mi' }, requests: { memory: '64Mi' } } }
const reference = { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'login', key: 'password' } } }
const secret = { metadata: { name: 'login' }, data: { user: 'aHVudGVyMg==' } }
const probe = { exec: { command: ['check'] }, periodSeconds: 5 }
const looping = { ...waiting('CrashLoopBackOff', 'back-off 10s restarting failed container'), restartCount: 2 }

const rows: [name: string, pod: Pod, cluster: ClusterReader, text: string, fix: string | undefined][] = [
  [
    'out of memory with a limit',
    podOf(limited, { ...looping, lastState: ended('OOMKilled', 137) }),
    readerOf(),
    `Container c (reg.example/i) was killed because it used more memory than its limit of 64Mi (OOMKilled, code 137), last at ${at} and was restarted 2 times.`,
    `kubectl patch pod/p --subresource=resize -p '{"spec":{"containers":[{"name":"c","resources":{"limits":{"memory":"128Mi"},"requests":{"memory":"128Mi"}}}]}}' -n shop`,
  ],
  [
    'out of memory without a limit',
    podOf({}, { ready: false, state: ended('OOMKilled', 137) }),
    readerOf(),
    `Container c (reg.example/i) was killed because it has no memory limit, and its node or its pod ran out of memory (OOMKilled, code 137), last at ${at}.`,
    undefined,
  ],
  [
    'a command that does not exist',
    podOf({}, { ready: false, state: ended('StartError', 127) }),
    readerOf(),
    'Container c exited with code 127 (StartError: its command was not found).',
    undefined,
  ],
  [
    'a registry that refuses',
    podOf({}, waiting('ImagePullBackOff', 'Back-off pulling image "reg.example/i"')),
    readerOf({ events: [warningOf('Failed', 'Failed to pull image "reg.example/i": 401 Unauthorized')] }),
    'Container c cannot start, because its image reg.example/i cannot be pulled (ImagePullBackOff): 401 Unauthorized.',
    `kubectl create secret docker-registry registry --docker-server=reg.example --docker-username=USER --docker-password=PASSWORD -n shop && kubectl patch serviceaccount/default -p '{"imagePullSecrets":[{"name":"registry"}]}' -n shop`,
  ],
  [
    'an image that the registry does not have',
    podOf({}, waiting('ImagePullBackOff', 'Back-off pulling image "reg.example/i"')),
    readerOf({
      events: [
        warningOf(
          'Failed',
          'Failed to pull image "reg.example/i": rpc error: code = NotFound desc = failed to pull and unpack image "reg.example/i:latest": failed to resolve reference "reg.example/i:latest": reg.example/i:latest: not found',
        ),
      ],
    }),
    'Container c cannot start, because its image reg.example/i cannot be pulled (ImagePullBackOff): the registry does not have it.',
    'kubectl set image pod/p c=NEW_IMAGE -n shop',
  ],
  [
    'an image that Docker Hub does not have',
    podOf(
      {},
      waiting(
        'ErrImagePull',
        'Failed to pull image "i": failed to resolve reference "docker.io/library/i:latest": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
      ),
    ),
    readerOf(),
    'Container c cannot start, because its image reg.example/i cannot be pulled (ErrImagePull): pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed.',
    'kubectl set image pod/p c=NEW_IMAGE -n shop',
  ],
  [
    'a Secret for a variable that does not exist',
    podOf({ env: [reference] }, waiting('CreateContainerConfigError', 'secret "login" not found')),
    readerOf(),
    'Container c cannot start, because its variable PASSWORD needs the Secret login, which does not exist in the namespace shop.',
    'kubectl create secret generic login --from-literal=password=VALUE -n shop',
  ],
  [
    'a key that a Secret does not have: its values are not shown',
    podOf({ env: [reference] }, waiting('CreateContainerConfigError')),
    readerOf({ secrets: [secret] }),
    'Container c cannot start, because its variable PASSWORD needs the key password of the Secret login; it has user.',
    `kubectl patch secret/login --type=merge -p '{"stringData":{"password":"VALUE"}}' -n shop`,
  ],
  [
    'a Secret that the user may not read: the event has the reason',
    podOf({ env: [reference] }, waiting('CreateContainerConfigError', 'secret "login" not found')),
    { ...readerOf(), unreadable: new Set(['secrets']) },
    'Container c (reg.example/i) is waiting: CreateContainerConfigError: secret "login" not found.',
    undefined,
  ],
  [
    'another reason for which a volume is not mounted',
    podOf({}, waiting('ContainerCreating')),
    readerOf({ events: [warningOf('FailedMount', 'rpc error: no such disk.')] }),
    'Container c cannot start: FailedMount: rpc error: no such disk.',
    undefined,
  ],
  [
    'a liveness probe, on a container that is ready at the moment',
    podOf(
      { livenessProbe: probe },
      { ready: true, restartCount: 3, state: { running: {} }, lastState: ended('Error', 137) },
    ),
    readerOf({ events: [warningOf('Unhealthy', 'Liveness probe failed: token=abc is wrong')] }),
    `Container c is restarted again and again (3 times, last at ${at}), because its liveness probe fails: the command "check" every 5 s: token=*** is wrong (2 times, last at ${at}).`,
    `kubectl get pod/p -o yaml -n shop > pod-p.yaml && "\${EDITOR:-vi}" pod-p.yaml && kubectl replace --force -f pod-p.yaml`,
  ],
  [
    'a startup probe',
    podOf({ startupProbe: probe }, { ready: false, started: false, state: { running: {} } }),
    readerOf({ events: [warningOf('Unhealthy', 'Startup probe failed: ')] }),
    `Container c is running, but its startup probe fails: the command "check" every 5 s (2 times, last at ${at}).`,
    `kubectl get pod/p -o yaml -n shop > pod-p.yaml && "\${EDITOR:-vi}" pod-p.yaml && kubectl replace --force -f pod-p.yaml`,
  ],
]
for (const [name, pod, cluster, text, fix] of rows)
  test(`container: ${name}`, async () => {
    const [finding] = await whyPod(pod, cluster)
    equal(finding?.text, text)
    equal(finding?.fix, fix)
  })

test('a restart of long ago is no problem', async () => {
  const status = { ready: true, restartCount: 3, state: { running: {} }, lastState: ended('Error', 1) }
  const later = { ...readerOf(), nowMs: Date.parse(at) + 3_600_000 }
  deepEqual(await whyPod(podOf({}, status), later), [])
})

test('a log that is gone is not shown', async () => {
  const pod = podOf({}, { state: ended('Error', 3) })
  const failed = { ...pod, status: { ...pod.status, phase: 'Failed' } } as Pod
  const answered = (log: string) => whyPod(failed, { ...readerOf(), lastOutput: () => Promise.resolve(log) })
  const [gone] = await answered('unable to retrieve container logs for containerd://0f')
  equal(gone?.output, undefined)
  const [kept] = await answered('one\n')
  deepEqual(kept?.output?.lines, ['one'])
})
