// Warnings: what is allowed but reported beside upstream's responses.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { deployment } from '../../../apps/v1/deployment.ts'
import { cronJob } from '../../../batch/v1/cron-job.ts'
import { objectFrom } from '../../../kind/kind.harness.ts'
import { ingress } from '../../../networking/v1/ingress.ts'
import { persistentVolume } from '../volume/persistent-volume.ts'
import { pod } from '../pod/pod.ts'

const container = { name: 'c', image: 'i:1' }
const podOf = (spec: object, metadata: object = {}) =>
  objectFrom(pod, { metadata: { name: 'x', ...metadata }, spec: { containers: [container], ...spec } })

const warnings: readonly (readonly [why: string, spec: object, metadata: object, expected: readonly string[]])[] = [
  ['a pod without warnings', {}, {}, []],
  [
    'a deprecated label',
    { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
    {},
    ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
  ],
  [
    'duplicate variables',
    {
      containers: [
        {
          ...container,
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '2' },
            { name: 'A', value: '$(A)3' },
          ],
        },
      ],
    },
    {},
    ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
  ],
  [
    'a duplicate port by number and protocol',
    {
      containers: [
        { ...container, ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }, { containerPort: 80 }] },
      ],
    },
    {},
    ['spec.containers[0].ports[2]: duplicate port definition with spec.containers[0].ports[0]'],
  ],
  [
    'a fractional byte value',
    { containers: [{ ...container, resources: { limits: { memory: '500m' } } }] },
    {},
    [
      'spec.containers[0].resources.limits[memory]: fractional byte value "500m" is invalid, must be an integer',
      'spec.containers[0].resources.requests[memory]: fractional byte value "500m" is invalid, must be an integer',
    ],
  ],
  ['a negative grace period, which a pod does not keep', { terminationGracePeriodSeconds: -1 }, {}, []],
  [
    'annotations that have become fields',
    {},
    {
      annotations: {
        'container.apparmor.security.beta.kubernetes.io/c': 'x',
        'container.apparmor.security.beta.kubernetes.io/other': 'x',
      },
    },
    [
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead',
    ],
  ],
  [
    'a volume type that is not supported any more',
    { volumes: [{ name: 'v', glusterfs: { endpoints: 'e', path: 'p' } }] },
    {},
    ['spec.volumes[0].glusterfs: deprecated in v1.25, non-functional in v1.26+'],
  ],
  [
    'a spread constraint without a selector, with a deprecated topology key',
    {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'failure-domain.beta.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    },
    {},
    [
      'spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
      'spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod',
    ],
  ],
]
for (const [why, spec, metadata, expected] of warnings)
  test(`warnings about ${why}`, () => deepEqual(pod.warnings?.(podOf(spec, metadata)), expected))

test('only so many repeated variables are reported as a response has room for', () => {
  const env = Array.from({ length: 1_000 }, () => ({ name: 'A', value: '' }))
  const reported = pod.warnings?.(podOf({ containers: [{ ...container, env }] })) ?? []
  deepEqual([reported.length, reported[255]?.split(':')[0]], [256, 'spec.containers[0].env[256]'])
})

test('a dotted name is reported once, a template whenever it changes', () => {
  const template = {
    metadata: { labels: { a: 'b' } },
    spec: { containers: [container], nodeSelector: { 'beta.kubernetes.io/arch': 'x' } },
  }
  const object = objectFrom(deployment, {
    metadata: { name: 'a.b' },
    spec: { selector: { matchLabels: { a: 'b' } }, template },
  })
  const warned = deployment.warnings?.(object) ?? []
  deepEqual(
    warned.map((text) => text.slice(0, 60)),
    [
      'metadata.name: this is used in Pod names and hostnames, which',
      'spec.template.spec.nodeSelector[beta.kubernetes.io/arch]: de',
    ].map((text) => text.slice(0, 60)),
  )
  deepEqual(deployment.warnings?.(object, object), [])
  deepEqual(pod.warnings?.(podOf({}, { name: 'a.b' }), podOf({})), [])
})

test('a negative grace period in a template is reported', () => {
  const template = { spec: { containers: [container], terminationGracePeriodSeconds: -1 } }
  const object = objectFrom(deployment, { metadata: { name: 'd' }, spec: { selector: {}, template } })
  deepEqual(deployment.warnings?.(object), [
    'spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
  ])
})

test('other kinds have their own warnings', () => {
  const annotated = objectFrom(ingress, {
    metadata: { name: 'x', annotations: { 'kubernetes.io/ingress.class': 'n' } },
  })
  deepEqual(ingress.warnings?.(annotated), [
    `annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`,
  ])
  const volume = objectFrom(persistentVolume, { spec: { persistentVolumeReclaimPolicy: 'Recycle' } })
  deepEqual(persistentVolume.warnings?.(volume)?.length, 1)
  const zoned = objectFrom(cronJob, {
    spec: { schedule: 'TZ=UTC * * * * *', jobTemplate: { spec: { template: { spec: { containers: [container] } } } } },
  })
  deepEqual(cronJob.warnings?.(zoned)?.length, 1)
})
