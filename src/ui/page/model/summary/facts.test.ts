// The facts of objects whose fields are all set, and of objects that have hardly any.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterObject } from '../../source/source.ts'
import { summaryOf } from './summary.ts'
import type { RelatedLists, SummaryValue } from './summary-parts.ts'

const none: RelatedLists = () => []
const text = (value: SummaryValue): string =>
  typeof value === 'string' ? value : 'since' in value ? `since ${value.since}` : value.text

const template = { spec: { containers: [{ image: 'a' }, { image: 'b' }] } }
const selector = { matchLabels: { app: 'web' } }
const at = '2030-01-01T00:00:00Z'

const rows: readonly [what: string, resource: string, object: object, facts: readonly string[]][] = [
  [
    'a Deployment without fields',
    'deployments.apps',
    {},
    ['Replicas: 0 of 1 ready', 'Rollout: 0 of 1 replicas are updated', 'Selects: <none>'],
  ],
  [
    'a StatefulSet with all fields',
    'statefulsets.apps',
    {
      spec: {
        replicas: 0,
        selector,
        serviceName: 'peers',
        template,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2, maxUnavailable: 1 } },
      },
      status: { readyReplicas: 0, updatedReplicas: 0 },
    },
    [
      'Replicas: 0 of 0 ready',
      'Updated: 0',
      'Strategy: RollingUpdate: 1 unavailable, from ordinal 2 on',
      'Service: peers',
      'Images: a, b',
      'Selects: app=web',
    ],
  ],
  [
    'a StatefulSet that is deleted by hand',
    'statefulsets.apps',
    { spec: { updateStrategy: { type: 'OnDelete' } } },
    ['Replicas: 0 of 1 ready', 'Strategy: OnDelete', 'Selects: <none>'],
  ],
  [
    'a DaemonSet with all fields',
    'daemonsets.apps',
    {
      spec: { selector, template, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
      status: { desiredNumberScheduled: 3, numberReady: 1, updatedNumberScheduled: 2, numberMisscheduled: 1 },
    },
    [
      'Nodes: 1 of 3 ready',
      'Updated: 2',
      'On wrong nodes: 1',
      'Strategy: RollingUpdate: 1 more at a time',
      'Images: a, b',
      'Selects: app=web',
    ],
  ],
  ['a DaemonSet without fields', 'daemonsets.apps', {}, ['Nodes: 0 of 0 ready', 'Selects: <none>']],
  [
    'a Job that has failed',
    'jobs.batch',
    {
      spec: { completions: 3, parallelism: 2, backoffLimit: 4, suspend: true, template },
      status: {
        active: 1,
        succeeded: 1,
        failed: 2,
        startTime: at,
        completionTime: at,
        conditions: [{ type: 'Failed', status: 'True' }],
      },
    },
    [
      'Completions: 1 of 3 completed',
      'Suspended: yes',
      'Active pods: 1',
      'Failed pods: 2',
      'At a time: 2',
      'Retries: 4',
      'Started: since 2030-01-01T00:00:00Z',
      'Completed: since 2030-01-01T00:00:00Z',
      'Images: a, b',
    ],
  ],
  [
    'a CronJob with all fields',
    'cronjobs.batch',
    {
      spec: { schedule: '@daily', timeZone: 'Europe/Berlin', concurrencyPolicy: 'Forbid', suspend: true },
      status: { lastScheduleTime: at, lastSuccessfulTime: at },
    },
    [
      'Schedule: @daily',
      'Time zone: Europe/Berlin',
      'Suspended: yes',
      'If one still runs: Forbid',
      'Running Jobs: 0',
      'Last started: since 2030-01-01T00:00:00Z',
      'Last succeeded: since 2030-01-01T00:00:00Z',
    ],
  ],
  [
    'a Service with all fields',
    'services',
    {
      spec: {
        type: 'LoadBalancer',
        clusterIPs: ['10.96.0.1', 'fd00::1'],
        externalIPs: ['192.0.2.1'],
        sessionAffinity: 'ClientIP',
        ports: [
          { port: 80, targetPort: 80, nodePort: 30080 },
          { name: 'dns', port: 53, targetPort: 'dns', protocol: 'UDP' },
        ],
      },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.2' }, { hostname: 'lb.test' }] } },
    },
    [
      'Type: LoadBalancer',
      'Addresses: 10.96.0.1, fd00::1',
      'Outside: 192.0.2.1, 192.0.2.2, lb.test',
      'Ports: 80/TCP, 30080 on nodes, dns 53/UDP → dns',
      'Selects: <none>',
      'Sticky: by client address',
    ],
  ],
  [
    'a Service of another name',
    'services',
    { spec: { type: 'ExternalName', externalName: 'a.test' } },
    ['Type: ExternalName', 'Outside: a.test', 'Selects: <none>'],
  ],
  ['a Service without fields', 'services', {}, ['Type: ClusterIP', 'Selects: <none>']],
  [
    'an Ingress with all fields',
    'ingresses.networking.k8s.io',
    {
      spec: { ingressClassName: 'coxswain', tls: [{ secretName: 'token' }, {}] },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.2' }] } },
    },
    ['Class: coxswain', 'Addresses: 192.0.2.2', 'Certificates: token'],
  ],
  ['an Ingress without fields', 'ingresses.networking.k8s.io', {}, []],
  [
    'a node with all fields',
    'nodes',
    {
      spec: { taints: [{ key: 'a', effect: 'NoExecute' }], podCIDRs: ['10.244.0.0/24'] },
      status: {
        addresses: [{ type: 'InternalIP', address: '192.0.2.3' }],
        conditions: [{ type: 'Ready', status: 'Unknown' }],
        nodeInfo: {
          kubeletVersion: 'v1.36.4',
          containerRuntimeVersion: 'containerd://2',
          osImage: 'Debian',
          kernelVersion: '6.1',
          architecture: 'amd64',
        },
      },
    },
    [
      'State: not ready',
      'Pressure: none',
      'Taints: a:NoExecute',
      'Addresses: 192.0.2.3',
      'Pod addresses: 10.244.0.0/24',
      'Kubelet: v1.36.4',
      'Runtime: containerd://2',
      'System: Debian, 6.1, amd64',
    ],
  ],
  ['a node without fields', 'nodes', {}, ['State: not ready', 'Pressure: none']],
  ['a Secret', 'secrets', { type: 'Opaque', immutable: true }, ['Type: Opaque', 'Immutable: yes']],
  ['a ConfigMap', 'configmaps', { immutable: true, data: { a: 'é' }, binaryData: { b: 'YQ==' } }, ['Immutable: yes']],
  [
    'a claim that is bound',
    'persistentvolumeclaims',
    {
      spec: { volumeName: 'pv', storageClassName: 'local-path', accessModes: ['ReadWriteOnce'] },
      status: { phase: 'Bound', capacity: { storage: '1Gi' } },
    },
    ['State: Bound', 'Volume: pv', 'Class: local-path', 'Size: 1Gi', 'Access: ReadWriteOnce'],
  ],
  [
    'a claim that waits',
    'persistentvolumeclaims',
    { spec: { resources: { requests: { storage: '2Gi' } } } },
    ['State: Pending', 'Size: 2Gi'],
  ],
  ['a pod without fields', 'pods', {}, ['State: Unknown']],
]
for (const [what, resource, fields, facts] of rows)
  test(`the facts of ${what}`, () => {
    const object = { metadata: { name: 'x', namespace: 'default', uid: 'u' }, ...fields } as ClusterObject
    const found = summaryOf(resource, object, none).facts.map(
      ({ label, values }) => `${label}: ${values.map(text).join(', ')}`,
    )
    deepEqual(found, facts)
  })
