// The FlowSchemas and priority levels that every cluster has, as upstream, and their bootstrap objects.
import { flowSchema, type FlowSchema } from '../../api/flowcontrol/v1/flow-schema.ts'
import { priorityLevelConfiguration } from '../../api/flowcontrol/v1/priority-level-configuration.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { BootstrapObject, ObjectManifest } from '../bootstrap/bootstrap-object.ts'
import { nextInt64 } from '../../schema/scalar/int64.ts'

const updateAnnotation = 'apf.kubernetes.io/autoupdate-spec'
export const catchAllLevel = 'catch-all'
/** These two cannot be changed: without them the server might not be reachable any more. */
const mandatory: readonly string[] = [catchAllLevel, 'exempt']

const group = (name: string) => ({ kind: 'Group', group: { name } })
const user = (name: string) => ({ kind: 'User', user: { name } })
const systemAccounts = { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } }
const allUsers = [group('system:unauthenticated'), group('system:authenticated')]

const anyResource = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }
const anyPath = { verbs: ['*'], nonResourceURLs: ['*'] }
const all = { resourceRules: [anyResource], nonResourceRules: [anyPath] }
const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] }

type Method = 'ByNamespace' | 'ByUser' | undefined

const schema = (name: string, level: string, precedence: number, method: Method, rule: object) =>
  ({
    name,
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: precedence,
      ...(method === undefined ? {} : { distinguisherMethod: { type: method } }),
      rules: [rule],
    },
  }) as const

/** Every default FlowSchema. */
export const defaultSchemas = [
  schema('catch-all', 'catch-all', 10000, 'ByUser', { subjects: allUsers, ...all }),
  schema('exempt', 'exempt', 1, undefined, { subjects: [group('system:masters')], ...all }),
  schema('global-default', 'global-default', 9900, 'ByUser', { subjects: allUsers, ...all }),
  schema('kube-controller-manager', 'workload-high', 800, 'ByNamespace', {
    subjects: [user('system:kube-controller-manager')],
    ...all,
  }),
  schema('kube-scheduler', 'workload-high', 800, 'ByNamespace', { subjects: [user('system:kube-scheduler')], ...all }),
  schema('kube-system-service-accounts', 'workload-high', 900, 'ByNamespace', { subjects: [systemAccounts], ...all }),
  schema('probes', 'exempt', 2, undefined, {
    subjects: allUsers,
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
  }),
  schema('service-accounts', 'workload-low', 9000, 'ByUser', { subjects: [group('system:serviceaccounts')], ...all }),
  schema('system-leader-election', 'leader-election', 100, 'ByUser', {
    subjects: [user('system:kube-controller-manager'), user('system:kube-scheduler'), systemAccounts],
    resourceRules: [{ verbs: ['get', 'create', 'update'], ...leases }],
  }),
  schema('system-node-high', 'node-high', 400, 'ByUser', {
    subjects: [group('system:nodes')],
    resourceRules: [
      { verbs: ['*'], apiGroups: [''], resources: ['nodes', 'nodes/status'], clusterScope: true, namespaces: ['*'] },
      { verbs: ['*'], ...leases },
    ],
  }),
  schema('system-nodes', 'system', 500, 'ByUser', { subjects: [group('system:nodes')], ...all }),
]

const queued = (name: string, shares: number, lendablePercent: number, queues: number, handSize: number) => ({
  name,
  spec: {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: shares,
      limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
      lendablePercent,
    },
  },
})

/** Every default priority level. */
export const defaultLevels = [
  {
    name: 'catch-all',
    spec: {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
    },
  },
  { name: 'exempt', spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } } },
  queued('global-default', 20, 50, 128, 6),
  queued('leader-election', 10, 0, 16, 4),
  queued('node-high', 40, 25, 64, 6),
  queued('system', 30, 33, 64, 6),
  queued('workload-high', 40, 50, 128, 6),
  queued('workload-low', 100, 90, 128, 6),
]

const annotations = { [updateAnnotation]: 'true' }

const bootstrapObjectOf = (
  kind: Kind,
  { name, spec }: { readonly name: string; readonly spec: object },
): BootstrapObject => ({
  kind,
  object: {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { name, annotations, generation: 1 },
    spec,
    status: {},
  } as unknown as ObjectManifest,
  /** A user who changes a default sets the annotation to keep the change. */
  update(current) {
    const isOurs = mandatory.includes(name) || current.metadata.annotations?.[updateAnnotation] === 'true'
    if (!isOurs || equalValues((current as ApiObject & { spec: unknown }).spec, spec)) return undefined
    const generation = nextInt64(current.metadata.generation ?? 0)
    return { ...current, metadata: { ...current.metadata, generation }, spec } as ApiObject
  },
})

/** The priority level of a default schema is created together with it. */
function foundStatus(made: ApiObject): FlowSchema['status'] {
  const { metadata, spec } = made as FlowSchema
  const level = JSON.stringify(spec.priorityLevelConfiguration.name)
  const message = `This FlowSchema references the PriorityLevelConfiguration object named ${level} and it exists`
  const lastTransitionTime = metadata.creationTimestamp
  return { conditions: [{ type: 'Dangling', status: 'False', lastTransitionTime, reason: 'Found', message }] }
}

export const fairnessBootstrapObjects: readonly BootstrapObject[] = [
  ...defaultLevels.map((level) => bootstrapObjectOf(priorityLevelConfiguration, level)),
  ...defaultSchemas.map((each) => ({ ...bootstrapObjectOf(flowSchema, each), status: foundStatus })),
]
