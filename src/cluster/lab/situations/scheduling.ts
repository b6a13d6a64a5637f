// Situations of scheduling: taints, labels, resources, and a node that cannot be drained.
import { deployment } from './manifests.ts'
import { inCluster, inDefault, type ManifestObject, type Situation } from './situation.ts'

const node = (name: string, spec: object, labels: Readonly<Record<string, string>> = {}): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, ...(Object.keys(labels).length === 0 ? {} : { labels }) },
  ...(Object.keys(spec).length === 0 ? {} : { spec }),
})

const taints = [{ key: 'dedicated', value: 'gpu', effect: 'NoSchedule' }]

export const taint: Situation = {
  name: 'taint',
  story: 'The pod of the Deployment train stays Pending.',
  asked: inDefault('deployment/train'),
  symptom: 'It needs 1 pod',
  objects: [node('node-0', { taints }), node('node-1', { taints }), deployment('train')],
  hints: ['Every node rejects the pod.', 'kubectl describe nodes shows the taints.'],
}

export const nodeSelector: Situation = {
  name: 'node-selector',
  story: 'The pod of the Deployment cache stays Pending.',
  asked: inDefault('deployment/cache'),
  symptom: 'It needs 1 pod',
  objects: [node('node-1', {}, { disk: 'hdd' }), deployment('cache', { spec: { nodeSelector: { disk: 'ssd' } } })],
  hints: ['Every node rejects the pod.', 'Compare its nodeSelector with kubectl get nodes --show-labels.'],
}

export const unschedulableCpu: Situation = {
  name: 'unschedulable-cpu',
  story: 'The pod of the Deployment big stays Pending.',
  asked: inDefault('deployment/big'),
  symptom: 'It needs 1 pod',
  objects: [deployment('big', { container: { resources: { requests: { cpu: '64' } } } })],
  hints: ['No node is large enough.', 'Compare its requests with what nodes can allocate.'],
}

export const blockedDrain: Situation = {
  name: 'blocked-drain',
  story: 'kubectl drain node-0 does not end.',
  asked: inCluster('node/node-0'),
  symptom: 'Its drain is blocked',
  objects: [
    node('node-1', { unschedulable: true }),
    deployment('db'),
    node('node-1', { unschedulable: false }),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'db', namespace: 'default' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'db' } } },
    },
    node('node-0', { unschedulable: true }),
  ],
  hints: ['A drain evicts pods, and something forbids it.', 'kubectl get pdb shows the disruptions that are allowed.'],
}
