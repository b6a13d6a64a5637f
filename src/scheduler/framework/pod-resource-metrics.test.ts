// The series of pods, as upstream's scheduler has them.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { textFormat } from '../../base/observability/exposition.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { podResourceFamilies } from './pod-resource-metrics.ts'

const podOf = (name: string, spec: object, phase = 'Pending') =>
  ({
    metadata: { name, namespace: 'default' },
    spec: { schedulerName: 'default-scheduler', priority: 0, ...spec },
    status: { phase },
  }) as unknown as Pod
const container = (requests: object, limits: object = {}) => ({ name: 'c', resources: { requests, limits } })

/** Recorded from upstream for these pods. */
const recorded = `kube_pod_resource_limit{namespace="default",node="n1",pod="p1",priority="2000001000",resource="cpu",scheduler="default-scheduler",unit="cores"} 0.2
kube_pod_resource_limit{namespace="default",node="n1",pod="p1",priority="2000001000",resource="ephemeral-storage",scheduler="default-scheduler",unit="bytes"} 1073741824
kube_pod_resource_limit{namespace="default",node="n1",pod="p1",priority="2000001000",resource="example.com/x",scheduler="default-scheduler",unit=""} 2
kube_pod_resource_request{namespace="default",node="",pod="p3",priority="0",resource="cpu",scheduler="default-scheduler",unit="cores"} 3
kube_pod_resource_request{namespace="default",node="n1",pod="p1",priority="2000001000",resource="cpu",scheduler="default-scheduler",unit="cores"} 0.1
kube_pod_resource_request{namespace="default",node="n1",pod="p1",priority="2000001000",resource="ephemeral-storage",scheduler="default-scheduler",unit="bytes"} 1073741824
kube_pod_resource_request{namespace="default",node="n1",pod="p1",priority="2000001000",resource="example.com/x",scheduler="default-scheduler",unit=""} 2
kube_pod_resource_request{namespace="default",node="n1",pod="p1",priority="2000001000",resource="memory",scheduler="default-scheduler",unit="bytes"} 1048576`

test('requests and limits have upstream’s labels, values and units', () => {
  const limits = { cpu: '200m', 'example.com/x': '2', 'ephemeral-storage': '1Gi' }
  const requests = { cpu: '100m', memory: '1Mi', 'example.com/x': '2', 'ephemeral-storage': '1Gi' }
  const pods = [
    podOf('p1', { nodeName: 'n1', priority: 2_000_001_000, containers: [container(requests, limits)] }),
    podOf('p3', { containers: [container({})], initContainers: [container({ cpu: '3' })] }),
  ]
  const lines = textFormat.write(podResourceFamilies(pods)).split('\n')
  equal(
    lines
      .filter((line) => line.startsWith('kube_'))
      .toSorted()
      .join('\n'),
    recorded,
  )
})

test('a pod that has ended has no series', () => {
  const ended = ['Succeeded', 'Failed'].map((phase) => podOf(phase, { containers: [container({ cpu: '1' })] }, phase))
  equal(podResourceFamilies(ended).length, 0)
})

const units: [resource: string, unit: string][] = [
  ['hugepages-2Mi', 'bytes'],
  ['attachable-volumes-csi', 'integer'],
]
for (const [resource, unit] of units)
  test(`the unit of ${resource} is ${unit}`, () => {
    const [family] = podResourceFamilies([podOf('p', { containers: [container({ [resource]: '1' })] })])
    const [sample] = family?.samples ?? []
    equal(sample?.labels.endsWith(`,unit="${unit}"`), true)
  })
