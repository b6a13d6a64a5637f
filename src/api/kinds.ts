// Every kind that is served, in the order of group, version and name.
import { deployment } from './apps/v1/deployment.ts'
import { replicaSet } from './apps/v1/replica-set.ts'
import { lease } from './coordination/v1/lease.ts'
import { configMap } from './core/v1/config-map.ts'
import { event } from './core/v1/event.ts'
import { namespace } from './core/v1/namespace.ts'
import { node } from './core/v1/node.ts'
import { pod } from './core/v1/pod.ts'
import type { Kind } from './kind.ts'

export const kinds: readonly Kind[] = [configMap, event, namespace, node, pod, deployment, replicaSet, lease]

/** Groups in the order in which discovery lists them. */
export const groupVersions: readonly { readonly group: string; readonly version: string }[] = [
  { group: '', version: 'v1' },
  { group: 'apps', version: 'v1' },
  { group: 'coordination.k8s.io', version: 'v1' },
]
