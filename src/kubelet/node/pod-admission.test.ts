import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { rejectionOf } from './pod-admission.ts'
import { aPod } from '../pod/pod-lifecycle.harness.ts'

const asks = (requests: object, more: object = {}) =>
  aPod({ containers: [{ name: 'c', image: 'i', resources: { requests } }], ...more })
const port = (hostPort: number, hostIP?: string) =>
  aPod({ containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort, hostIP }] }] })

const cases: [why: string, pod: Pod, others: Pod[], rejection: string | undefined][] = [
  ['fits', asks({ cpu: '500m' }), [asks({ cpu: '1500m' })], undefined],
  [
    'insufficient CPU',
    asks({ cpu: '1' }),
    [asks({ cpu: '1500m' })],
    "OutOfcpu Node didn't have enough resource: cpu, requested: 1000, used: 1500, capacity: 2000",
  ],
  [
    'no memory',
    asks({ memory: '3Gi' }),
    [],
    "OutOfmemory Node didn't have enough resource: memory, requested: 3221225472, used: 0, capacity: 1073741824",
  ],
  [
    'too many pods',
    aPod(),
    [aPod(), aPod(), aPod()],
    "OutOfpods Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3",
  ],
  [
    'insufficient extended resource',
    asks({ 'example.com/gpu': '1' }),
    [],
    "OutOfexample.com/gpu Node didn't have enough resource: example.com/gpu, requested: 1, used: 0, capacity: 0",
  ],
  ['an extended resource that the node does not list', asks({ 'example.com/licence': '1' }), [], undefined],
  ['a matching node selector', aPod({ nodeSelector: { disk: 'fast' } }), [], undefined],
  [
    'a different node selector',
    aPod({ nodeSelector: { disk: 'slow' } }),
    [],
    "NodeAffinity Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  ],
  [
    'another operating system',
    aPod({ os: { name: 'windows' } }),
    [],
    "PodOSNotSupported Failed to admit pod as the OS field doesn't match node OS",
  ],
  [
    'a host port in use',
    port(8080),
    [port(8080, '192.0.2.1')],
    "NodePorts Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
  ],
  ['the same port on another address', port(8080, '192.0.2.2'), [port(8080, '192.0.2.1')], undefined],
]
for (const [why, pod, others, rejection] of cases)
  test(`pod admission: ${why}`, () => {
    const found = rejectionOf({
      pod,
      others,
      node: { metadata: { name: 'n', labels: { disk: 'fast' } } },
      allocatable: { cpu: '2', memory: '1Gi', pods: '3', 'example.com/gpu': '0' },
      operatingSystem: 'linux',
    })
    equal(found && `${found.reason} ${found.message}`, rejection)
  })
