import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { ServicePorts } from './service-ports.ts'

const podWith = (ports: readonly object[], initContainers: readonly object[] = []): Pod =>
  ({ spec: { containers: [{ name: 'c', ports }], initContainers } }) as unknown as Pod
const serviceWith = (...ports: readonly object[]): Service => ({ spec: { ports } }) as unknown as Service
const tcp = { protocol: 'TCP' }
const named = (name: string, containerPort: number, protocol = 'TCP') => ({ name, containerPort, protocol })

const rows: readonly (readonly [string, object, Pod, readonly number[]])[] = [
  ['no target port', { ...tcp, port: 80 }, podWith([]), [80]],
  ['the target port 0', { ...tcp, port: 80, targetPort: 0 }, podWith([]), [80]],
  ['an empty target port', { ...tcp, port: 80, targetPort: '' }, podWith([]), [80]],
  ['a number', { ...tcp, port: 80, targetPort: 8080 }, podWith([]), [8080]],
  ['a name', { ...tcp, port: 80, targetPort: 'web' }, podWith([named('web', 8080), named('web', 9090)]), [8080]],
  ['a name that the pod does not have', { ...tcp, port: 80, targetPort: 'web' }, podWith([named('other', 1)]), []],
  ['a name of another protocol', { ...tcp, port: 80, targetPort: 'web' }, podWith([named('web', 1, 'UDP')]), []],
  [
    'a name of a sidecar',
    { ...tcp, port: 80, targetPort: 'web' },
    podWith([], [{ ports: [named('web', 1)] }, { restartPolicy: 'Always', ports: [named('web', 2)] }]),
    [2],
  ],
]
for (const [name, port, pod, expected] of rows)
  test(`the port of a Service on a pod: ${name}`, () =>
    deepEqual(
      new ServicePorts(serviceWith(port)).on(pod).map(({ number }) => number),
      expected,
    ))

test('pods on which the ports have the same numbers share them', () => {
  const ports = new ServicePorts(serviceWith({ ...tcp, port: 80, targetPort: 'web' }, { ...tcp, port: 81 }))
  const first = ports.on(podWith([named('web', 8080)]))
  equal(ports.on(podWith([named('other', 1), named('web', 8080)])), first)
  notEqual(ports.on(podWith([named('web', 8081)])), first)
})

test('a port does not cost a step for every pod', () => {
  const many = Array.from({ length: 1_000 }, (_, index) => ({ ...tcp, port: index + 1 }))
  let reads = 0
  const counted = new Proxy(many, {
    get: (target, key, receiver) => {
      reads++
      return Reflect.get(target, key, receiver) as unknown
    },
  })
  const ports = new ServicePorts(serviceWith(...[]))
  const measured = new ServicePorts({ spec: { ports: counted } } as unknown as Service)
  for (let pods = 0; pods < 100; pods++) measured.on(podWith([]))
  equal(ports.on(podWith([])).length, 0)
  equal(reads < many.length * 10, true, `${reads} reads`)
})
