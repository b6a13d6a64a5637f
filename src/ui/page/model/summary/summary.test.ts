// Summaries by kind: what they say, which objects they link to, and what a pod refers to.
import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ClusterObject } from '../../source/source.ts'
import { referencesOf } from './pod-references.ts'
import { hasPods, podsOfWorkload, summaryOf, summaryQueries } from './summary.ts'
import { tableRowsMax, type RelatedLists, type Summary, type SummaryValue } from './summary-parts.ts'
import { rolloutOf } from './workload-summaries.ts'

const object = (name: string, more: object = {}, metadata: object = {}): ClusterObject => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}`, ...metadata },
  ...more,
})
const ownedBy = (name: string) => ({ ownerReferences: [{ kind: 'X', name, uid: `uid-${name}`, controller: true }] })
const lists =
  (all: Readonly<Record<string, readonly ClusterObject[]>>): RelatedLists =>
  (resource) =>
    new Map(Object.entries(all)).get(resource) ?? []
const none = lists({})

/** A value as a user reads it. */
const text = (value: SummaryValue): string =>
  typeof value === 'string' ? value : 'since' in value ? `since ${value.since}` : value.text
const factsOf = ({ facts }: Summary): readonly string[] =>
  facts.map(({ label, values }) => `${label}: ${values.map(text).join(', ')}`)
const tablesOf = ({ tables }: Summary) =>
  tables.map(({ title, rows }) => [title, ...rows.map((row) => row.map(text).join(' | '))])

const running = { state: { running: { startedAt: '2030-01-01T00:00:00Z' } } }
const podOf = (name: string, owner: string): ClusterObject =>
  object(
    name,
    {
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] },
      status: { phase: 'Running', containerStatuses: [{ name: 'c', ready: true, restartCount: 2, ...running }] },
    },
    ownedBy(owner),
  )

suite('summaries', () => {
  test('a Deployment has its pods and its ReplicaSets, the newest first', () => {
    const revision = (number: number) => ({ annotations: { 'deployment.kubernetes.io/revision': String(number) } })
    const template = { spec: { containers: [{ image: 'nginx:1' }] } }
    const web = object('web', {
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'web' } },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
        template,
      },
      status: { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 },
    })
    const related = lists({
      'replicasets.apps': [
        object('web-1', { spec: { replicas: 0, template } }, { ...ownedBy('web'), ...revision(1) }),
        object('web-2', { spec: { replicas: 1, template } }, { ...ownedBy('web'), ...revision(2) }),
        object('other', { spec: { replicas: 1, template } }, ownedBy('else')),
      ],
      pods: [podOf('web-2-a', 'web-2'), podOf('stray', 'other')],
    })
    const summary = summaryOf('deployments.apps', web, related)
    deepEqual(factsOf(summary), [
      'Replicas: 1 of 1 ready',
      'Rollout: complete',
      'Strategy: RollingUpdate: 25% more at a time, 0 unavailable',
      'Images: nginx:1',
      'Selects: app=web',
    ])
    deepEqual(tablesOf(summary), [
      ['Pods (1)', 'web-2-a | 1/1 | Running | 2 | n | since '],
      ['ReplicaSets (2)', 'web-2 | 2 | 0 of 1 ready | nginx:1 | since ', 'web-1 | 1 | 0 of 0 ready | nginx:1 | since '],
    ])
    deepEqual(summaryQueries('deployments.apps', web), [
      { resource: 'replicasets.apps', namespace: 'default', labelSelector: 'app=web' },
      { resource: 'pods', namespace: 'default', labelSelector: 'app=web' },
    ])
    deepEqual(
      podsOfWorkload('deployments.apps', web, related).map(({ metadata }) => metadata.name),
      ['web-2-a'],
    )
  })

  for (const [name, spec, status, expected] of [
    ['paused', { paused: true }, {}, 'paused'],
    ['not observed', {}, {}, 'waits for the controller'],
    [
      'beyond its deadline',
      {},
      { observedGeneration: 1, conditions: [{ type: 'Progressing', reason: 'ProgressDeadlineExceeded' }] },
      'has exceeded its progress deadline',
    ],
    ['updating', { replicas: 2 }, { observedGeneration: 1, updatedReplicas: 1 }, '1 of 2 replicas are updated'],
    ['ending', {}, { observedGeneration: 1, updatedReplicas: 1, replicas: 3 }, '2 old replicas are left'],
    [
      'starting',
      {},
      { observedGeneration: 1, updatedReplicas: 1, replicas: 1 },
      '0 of 1 updated replicas are available',
    ],
  ] as const)
    test(`a rollout that is ${name}`, () => {
      equal(text(rolloutOf(object('web', { spec, status }, { generation: 1 }))), expected)
    })

  test('other workloads have the pods that they control', () => {
    const selector = { matchLabels: { app: 'a' } }
    const pods = lists({ pods: [podOf('a-0', 'a'), podOf('b-0', 'b')] })
    for (const [resource, spec, status, first] of [
      ['statefulsets.apps', { selector, replicas: 2 }, { readyReplicas: 1 }, 'Replicas: 1 of 2 ready'],
      ['daemonsets.apps', { selector }, { desiredNumberScheduled: 1, numberReady: 1 }, 'Nodes: 1 of 1 ready'],
      ['jobs.batch', { selector, completions: 3 }, { succeeded: 1, active: 1 }, 'Completions: 1 of 3 completed'],
    ] as const) {
      const summary = summaryOf(resource, object('a', { spec, status }), pods)
      equal(factsOf(summary)[0], first)
      deepEqual(tablesOf(summary)[0]?.[0], 'Pods (1)')
      equal(hasPods(resource), true)
    }
    equal(hasPods('services'), false)
    // A selector of everything would list all pods.
    deepEqual(summaryQueries('statefulsets.apps', object('a', { spec: { selector: {} } })), [])
  })

  test('a CronJob has its Jobs, the newest first', () => {
    const jobs = lists({
      'jobs.batch': [
        object('nightly-1', {}, { ...ownedBy('nightly'), creationTimestamp: '2030-01-01T00:00:00Z' }),
        object('nightly-2', {}, { ...ownedBy('nightly'), creationTimestamp: '2030-01-02T00:00:00Z' }),
      ],
    })
    const cronJob = object('nightly', { spec: { schedule: '@daily' }, status: { active: [{ name: 'nightly-2' }] } })
    const summary = summaryOf('cronjobs.batch', cronJob, jobs)
    deepEqual(factsOf(summary), [
      'Schedule: @daily',
      'Suspended: no',
      'Running Jobs: 1',
      'Last started: never',
      'Last succeeded: never',
    ])
    deepEqual(tablesOf(summary)[0]?.slice(1), [
      'nightly-2 | 0 of 1 completed | since 2030-01-02T00:00:00Z',
      'nightly-1 | 0 of 1 completed | since 2030-01-01T00:00:00Z',
    ])
  })

  test('a pod has its containers with their states, and what it uses', () => {
    const terminated = { reason: 'OOMKilled', exitCode: 137 }
    const pod = object('web', {
      spec: {
        nodeName: 'n',
        serviceAccountName: 'default',
        containers: [
          { name: 'c', image: 'i', envFrom: [{ secretRef: { name: 'token' } }], ports: [{ containerPort: 80 }] },
          { name: 'd', image: 'j' },
        ],
        initContainers: [{ name: 'first', image: 'k' }],
      },
      status: {
        podIP: '10.0.0.1',
        phase: 'Running',
        containerStatuses: [
          { name: 'c', restartCount: 3, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated } },
        ],
        initContainerStatuses: [{ name: 'first', state: { terminated: { reason: 'Completed', exitCode: 0 } } }],
        conditions: [
          { type: 'Ready', status: 'False', reason: 'ContainersNotReady', lastTransitionTime: '2030-01-01T00:00:00Z' },
        ],
      },
    })
    const summary = summaryOf('pods', pod, none)
    deepEqual(factsOf(summary).slice(0, 5), [
      'State: CrashLoopBackOff',
      'Node: n',
      'Addresses: 10.0.0.1',
      'Service account: default',
      'Uses: token',
    ])
    deepEqual(tablesOf(summary), [
      [
        'Containers (3)',
        'first | init | k | Completed, exit code 0 | 0 |  | ',
        'c |  | i | CrashLoopBackOff | 3 | OOMKilled, exit code 137 | 80/TCP',
        'd |  | j | waiting | 0 |  | ',
      ],
      ['Conditions', 'Ready | False | since 2030-01-01T00:00:00Z | ContainersNotReady | '],
    ])
  })

  test('a Service has its endpoints', () => {
    const service = object('web', {
      spec: { clusterIP: '10.96.0.1', selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
    })
    const slice = object(
      'web-1',
      {
        ports: [{ port: 8080, protocol: 'TCP' }],
        endpoints: [
          { addresses: ['10.0.0.1'], nodeName: 'n', targetRef: { kind: 'Pod', name: 'a', namespace: 'default' } },
          { addresses: ['10.0.0.2'], conditions: { ready: false } },
          { addresses: ['10.0.0.3'], conditions: { ready: false, terminating: true } },
        ],
      },
      { labels: { 'kubernetes.io/service-name': 'web' } },
    )
    const summary = summaryOf('services', service, lists({ 'endpointslices.discovery.k8s.io': [slice, object('x')] }))
    deepEqual(factsOf(summary), [
      'Type: ClusterIP',
      'Addresses: 10.96.0.1',
      'Ports: http 80/TCP → 8080',
      'Selects: app=web',
    ])
    deepEqual(tablesOf(summary)[0], [
      'Endpoints (3)',
      '10.0.0.1 | 8080/TCP | ready | a | n',
      '10.0.0.2 | 8080/TCP | not ready |  | ',
      '10.0.0.3 | 8080/TCP | terminating |  | ',
    ])
  })

  test('an Ingress has its routes', () => {
    const backend = { service: { name: 'web', port: { number: 80 } } }
    const spec = { rules: [{ host: 'a.test', http: { paths: [{ path: '/x', backend }] } }], defaultBackend: backend }
    deepEqual(tablesOf(summaryOf('ingresses.networking.k8s.io', object('in', { spec }), none))[0], [
      'Routes (2)',
      'a.test | /x | web | 80',
      'others |  | web | 80',
    ])
  })

  test('a node has what weighs on it, what its pods request, and its pods', () => {
    const node = object(
      'n',
      {
        spec: { unschedulable: true, taints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }] },
        status: {
          allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
          conditions: [
            { type: 'Ready', status: 'True' },
            { type: 'MemoryPressure', status: 'True' },
            { type: 'DiskPressure', status: 'False' },
          ],
        },
      },
      { labels: { 'node-role.kubernetes.io/control-plane': '' } },
    )
    const pod = podOf('a', 'x')
    const containers = [{ name: 'c', resources: { requests: { cpu: '500m', memory: '1Gi' } } }]
    const withRequests = { ...pod, spec: { ...pod.spec, containers } }
    const ended = { ...withRequests, metadata: { name: 'ended' }, status: { phase: 'Succeeded' } }
    const summary = summaryOf('nodes', node, lists({ pods: [withRequests, ended, object('elsewhere')] }))
    deepEqual(factsOf(summary).slice(0, 8), [
      'State: ready',
      'Scheduling: cordoned',
      'Pressure: MemoryPressure',
      'CPU: 0.5 CPUs of 4 CPUs requested',
      'Memory: 1 GiB of 8 GiB requested',
      'Pods: 1 of 110',
      'Taints: a=b:NoSchedule',
      'Roles: control-plane',
    ])
    equal(tablesOf(summary)[0]?.[0], 'Pods (2)')
  })

  test('a Secret has its users without those that a controller makes, and sizes instead of values', () => {
    const spec = { template: { spec: { containers: [{ envFrom: [{ secretRef: { name: 'token' } }] }] } } }
    const bare = { spec: { volumes: [{ secret: { secretName: 'token' } }] } }
    const made = { ownerReferences: [{ kind: 'ReplicaSet', name: 'web-1', uid: 'u' }] }
    const related = lists({
      'deployments.apps': [object('web', { spec }), object('other')],
      'cronjobs.batch': [object('nightly', { spec: { jobTemplate: { spec } } })],
      pods: [object('bare', bare), object('made', bare, made)],
      serviceaccounts: [object('default', { imagePullSecrets: [{ name: 'token' }] })],
      'ingresses.networking.k8s.io': [object('in', { spec: { tls: [{ secretName: 'token' }] } })],
    })
    deepEqual(tablesOf(summaryOf('secrets', object('token', { data: { a: 'YWJj', b: 'YQ==' } }), related)), [
      [
        'Used by (5)',
        'Deployment | web',
        'CronJob | nightly',
        'Pod | bare',
        'ServiceAccount | default',
        'Ingress | in',
      ],
      ['Keys (2)', 'a | 3 bytes', 'b | 1 byte'],
    ])
  })

  test('ConfigMaps, claims and ServiceAccounts have their users too', () => {
    const spec = {
      serviceAccountName: 'runner',
      volumes: [{ configMap: { name: 'settings' } }, { persistentVolumeClaim: { claimName: 'data' } }],
    }
    const related = lists({ pods: [object('a', { spec })] })
    for (const [resource, name] of [
      ['configmaps', 'settings'],
      ['persistentvolumeclaims', 'data'],
      ['serviceaccounts', 'runner'],
    ] as const)
      deepEqual(tablesOf(summaryOf(resource, object(name), related))[0], ['Used by (1)', 'Pod | a'])
  })

  test('any kind has its age, labels and conditions; long values are shortened', () => {
    const metadata = {
      creationTimestamp: '2030-01-01T00:00:00Z',
      labels: { a: 'b' },
      annotations: { c: 'x'.repeat(500) },
    }
    const conditions = [{ type: 'DiskPressure', status: 'False' }]
    const summary = summaryOf('widgets.example.com', object('w', { status: { conditions } }, metadata), none)
    deepEqual(factsOf(summary), [
      'Created: since 2030-01-01T00:00:00Z',
      'Labels: a=b',
      `Annotations: c=${'x'.repeat(119)}…`,
    ])
    deepEqual(summary.tables[0]?.rows[0]?.[1], { text: 'False', state: 'good' })
    deepEqual(summaryQueries('widgets.example.com', object('w')), [])
  })

  test('a table has a limited number of rows, and says so', () => {
    const pods = Array.from({ length: tableRowsMax + 5 }, (_, at) => podOf(`p-${at}`, 'a'))
    const [table] = summaryOf('replicasets.apps', object('a'), lists({ pods })).tables
    deepEqual([table?.title, table?.rows.length], [`Pods (${tableRowsMax} of ${tableRowsMax + 5})`, tableRowsMax])
  })

  test('a pod refers to Secrets, ConfigMaps, claims and its ServiceAccount, each once', () => {
    const valueFrom = { configMapKeyRef: { name: 'b' } }
    deepEqual(
      referencesOf({
        serviceAccountName: 's',
        imagePullSecrets: [{ name: 'pull' }],
        volumes: [{ projected: { sources: [{ secret: { name: 'p' } }, { configMap: { name: 'q' } }] } }],
        initContainers: [{ env: [{ valueFrom }, { valueFrom: { secretKeyRef: { name: 'pull' } } }] }],
        containers: [{ envFrom: [{ configMapRef: { name: 'b' } }] }],
      }),
      { serviceAccount: 's', claims: [], secrets: ['pull', 'p'], configMaps: ['q', 'b'] },
    )
  })
})
