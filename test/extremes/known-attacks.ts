// Objects with extreme counts that once stopped a cluster, with what they need.
interface NamedObject {
  readonly path: string
  readonly body: object
}

const most = 2_147_483_647
const labels = { app: 'attack' }
const container = { name: 'c', image: 'i' }
const template = { metadata: { labels }, spec: { containers: [container] } }
const jobTemplate = { metadata: { labels }, spec: { containers: [container], restartPolicy: 'Never' } }
const selected = { selector: { matchLabels: labels }, template }
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

export function knownAttacks(namespace: string): readonly NamedObject[] {
  const core = `/api/v1/namespaces/${namespace}`
  const of = (group: string, plural: string) => `/apis/${group}/namespaces/${namespace}/${plural}`
  const request = (name: string, exactly: object) => ({ name, exactly: { deviceClassName: 'attack', ...exactly } })
  const selectors = [{ cel: { expression: `device.driver == 'other.example.com'` } }]
  return [
    {
      path: of('apps/v1', 'statefulsets'),
      body: { metadata: { name: 'parallel' }, spec: { ...selected, replicas: most, podManagementPolicy: 'Parallel' } },
    },
    {
      path: of('batch/v1', 'jobs'),
      body: { metadata: { name: 'endless' }, spec: { template: jobTemplate, parallelism: most } },
    },
    ...numbers(20).map((index) => ({
      path: of('apps/v1', 'deployments'),
      body: { metadata: { name: `many-${index}` }, spec: { ...selected, replicas: most } },
    })),
    {
      path: '/apis/resource.k8s.io/v1/deviceclasses',
      body: { metadata: { name: 'attack' }, spec: {} },
    },
    {
      path: '/apis/resource.k8s.io/v1/resourceslices',
      body: {
        metadata: { name: 'attack' },
        spec: {
          driver: 'd.example.com',
          pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
          allNodes: true,
          devices: numbers(32).map((index) => ({ name: `d${index}` })),
        },
      },
    },
    {
      path: of('resource.k8s.io/v1', 'resourceclaims'),
      body: {
        metadata: { name: 'endless' },
        spec: { devices: { requests: [request('r', { count: 16 }), request('none', { selectors })] } },
      },
    },
    ...numbers(5).map((index) => ({
      path: `${core}/pods`,
      body: {
        metadata: { name: `claiming-${index}` },
        spec: { containers: [container], resourceClaims: [{ name: 'd', resourceClaimName: 'endless' }] },
      },
    })),
    {
      path: of('batch/v1', 'jobs'),
      body: {
        metadata: { name: 'indexes' },
        spec: {
          template: jobTemplate,
          completionMode: 'Indexed',
          completions: most,
          parallelism: 1,
          successPolicy: { rules: numbers(20).map(() => ({ succeededIndexes: `0-${most - 1}` })) },
        },
      },
    },
    ...numbers(50).map((index) => ({
      path: of('batch/v1', 'cronjobs'),
      body: {
        metadata: { name: `never-${index}` },
        spec: { schedule: '0 0 31 2 *', timeZone: 'Europe/Berlin', jobTemplate: { spec: { template: jobTemplate } } },
      },
    })),
    {
      path: `${core}/configmaps`,
      body: {
        metadata: {
          name: 'owned',
          ownerReferences: numbers(10_000).map((index) => ({
            apiVersion: 'v1',
            kind: 'ConfigMap',
            name: `o${index}`,
            uid: `u${index}`,
          })),
        },
      },
    },
  ]
}
