// Nodes that are initialized from their instance.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { node } from '../../api/core/v1/node/node.ts'
import { made } from '../../controllers/runtime/plan.harness.ts'
import type { CloudInstance } from '../provider/cloud-provider.ts'
import { correctedLabels, initializedNode, instanceAddresses, uninitializedTaint } from './instance-labels.ts'

const instance: CloudInstance = {
  providerId: 'cloud://z/i-1',
  addresses: [],
  type: 'small',
  zone: 'z',
  region: 'r',
  isShutDown: false,
  labels: { 'example.com/rack': '7', 'kubernetes.io/os': 'plan9', 'sub.k8s.io/a': 'b', disk: 'hdd' },
}
const other = { key: 'other', effect: 'NoSchedule' }
const fresh = made(node, 'n', {
  metadata: { labels: { disk: 'ssd' } },
  spec: { taints: [{ key: uninitializedTaint, value: 'true', effect: 'NoSchedule' }, other] },
})

test('an initialized node has the labels of its instance, its id and no uninitialized taint', () => {
  const { metadata, spec } = initializedNode(fresh, instance)
  deepEqual(metadata.labels, {
    'beta.kubernetes.io/instance-type': 'small',
    disk: 'ssd',
    'example.com/rack': '7',
    'failure-domain.beta.kubernetes.io/region': 'r',
    'failure-domain.beta.kubernetes.io/zone': 'z',
    'node.kubernetes.io/instance-type': 'small',
    'topology.kubernetes.io/region': 'r',
    'topology.kubernetes.io/zone': 'z',
  })
  deepEqual([spec.providerID, spec.taints], ['cloud://z/i-1', [other]])
})

test('a cloud without types and zones sets no labels, and the id that the kubelet was given is kept', () => {
  const given = { ...fresh, spec: { ...fresh.spec, providerID: 'given' } }
  const { metadata, spec } = initializedNode(given, { ...instance, type: '', zone: '', region: '', labels: {} })
  deepEqual([metadata.labels, spec.providerID], [{ disk: 'ssd' }, 'given'])
})

test('labels with older names follow the stable ones', () => {
  const zone = 'topology.kubernetes.io/zone'
  const olderZone = 'failure-domain.beta.kubernetes.io/zone'
  const labelled = (labels: object) => made(node, 'n', { metadata: { labels } })
  deepEqual(correctedLabels(labelled({ [zone]: 'a' })), { [olderZone]: 'a' })
  equal(correctedLabels(labelled({ [zone]: 'a', [olderZone]: 'a' })), undefined)
  equal(correctedLabels(labelled({ [olderZone]: 'a' })), undefined)
})

test('the kubelet reports the host name where the cloud does not; a cloud without addresses changes none', () => {
  const hostname = { type: 'Hostname', address: 'n' }
  const address = { type: 'InternalIP', address: '192.0.2.1' }
  const known = made(node, 'n', { status: { addresses: [{ ...address, address: '192.0.2.9' }, hostname] } })
  deepEqual(instanceAddresses(known, { ...instance, addresses: [address] }), [address, hostname])
  const own = { type: 'Hostname', address: 'n.cloud' }
  deepEqual(instanceAddresses(known, { ...instance, addresses: [own, address] }), [own, address])
  equal(instanceAddresses(known, instance), undefined)
})
