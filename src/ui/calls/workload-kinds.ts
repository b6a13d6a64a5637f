// Which kinds are scaled, restarted or rolled back, suspended, cordoned and debugged, and how many replicas a user may type.
import { qualifiedResource, type KindNames } from '../../api/kind/kind.ts'

type Named = Pick<KindNames, 'plural' | 'group'>

const scalable = new Set(['deployments.apps', 'replicasets.apps', 'replicationcontrollers', 'statefulsets.apps'])
const restartable = new Set(['daemonsets.apps', 'deployments.apps', 'statefulsets.apps'])

const suspendable = new Set(['cronjobs.batch', 'jobs.batch'])

/** Kinds whose ports a user forwards. */
const forwarded = new Set(['pods', 'services'])

export const isForwarded = (resource: Named): boolean => forwarded.has(qualifiedResource(resource))
export const isPod = (resource: Named): boolean => qualifiedResource(resource) === 'pods'
export const isNode = (resource: Named): boolean => qualifiedResource(resource) === 'nodes'
export const isSuspendable = (resource: Named): boolean => suspendable.has(qualifiedResource(resource))
export const isScalable = (resource: Named): boolean => scalable.has(qualifiedResource(resource))
export const isRestartable = (resource: Named): boolean => restartable.has(qualifiedResource(resource))

/** More replicas are a mistake of typing. */
export const replicasMax = 10_000

/** Undefined: not a number of replicas. */
export function replicasIn(text: string): number | undefined {
  const replicas = Number(text.trim())
  return /^\s*\d+\s*$/.test(text) && replicas <= replicasMax ? replicas : undefined
}
