// ClusterReader: what explainers read of a cluster. It works with any API server. What the user may not read is treated as
// absent, and its resource is noted, so that no explanation claims that it does not exist.
import type { Context } from '../../../base/observability/context.ts'
import { StatusError } from '../../../api/errors/status-error.ts'
import { qualifiedResource, type Kind, type ResourceType } from '../../../api/kind/kind.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { namespaceOf, type ApiObject } from '../../../api/meta/object.ts'
import type { Client } from '../../../client/client.ts'
import { discover, type DiscoveryResult } from '../../../client/discovery.ts'
import { podLog } from '../../../client/pod-log.ts'

export interface ClusterReader {
  list<T extends ApiObject>(kind: ResourceType<T>, namespace: string): Promise<readonly T[]>
  find<T extends ApiObject>(kind: ResourceType<T>, namespace: string, name: string): Promise<T | undefined>
  /** The kind that an owner reference names, if it is served. Without it, owners are not checked. */
  kindOf?(apiVersion: string, kindName: string): Promise<Kind | undefined>
  /** The preferred version of a resource such as `deployments.apps`, if it is served. */
  kindOfResource?(resource: string): Promise<Kind | undefined>
  /** The last output of a container, or of its previous instance; empty if it cannot be read. */
  lastOutput?(pod: Pod, container: string, which: 'current' | 'previous'): Promise<string>
  /** The resources that the user may not read, as far as they were needed. */
  readonly unreadable?: ReadonlySet<string>
  readonly nowMs: number
  /** False for another Kubernetes, whose components are not described here. */
  readonly isCoxswain?: boolean
}

/** True only if there is certainly no such object. */
export const isMissing = async (
  cluster: ClusterReader,
  kind: ResourceType,
  namespace: string,
  name: string,
): Promise<boolean> =>
  (await cluster.find(kind, namespace, name)) === undefined && !cluster.unreadable?.has(qualifiedResource(kind))

/** Lines and bytes of a log that are read for an explanation. */
const outputLinesMax = 10
const outputBytesMax = 16 * 1024
/** Containers whose logs are read for one explanation, or for one report about a cluster. */
const outputsMax = 20

export function readerOf(
  client: Client,
  context: Context,
  { nowMs, isCoxswain = true }: Pick<ClusterReader, 'nowMs' | 'isCoxswain'>,
): ClusterReader {
  const unreadable = new Set<string>()
  const allowed = async <T>(kind: ResourceType, read: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      // An API server of another version, or one without an extension, does not serve the kind.
      if (error.code === 404) return otherwise
      if (error.code !== 403) throw error
      unreadable.add(qualifiedResource(kind))
      return otherwise
    }
  }
  let outputs = 0
  let discovered: Promise<DiscoveryResult> | undefined
  const served = async () => (await (discovered ??= discover(client, context))).kinds
  return {
    list: (kind, namespace) =>
      allowed(kind, async () => (await client.of(kind).list(namespace === '' ? {} : { namespace }, context)).items, []),
    find: (kind, namespace, name) => allowed(kind, () => client.of(kind).find(name, namespace, context), undefined),
    kindOf: async (apiVersion, kindName) =>
      (await served()).find(({ kind }) => kind.apiVersion === apiVersion && kind.kind === kindName)?.kind,
    kindOfResource: async (resource) =>
      (await served()).find(({ kind, isPreferred }) => isPreferred && qualifiedResource(kind) === resource)?.kind,
    async lastOutput(object, container, which) {
      if (++outputs > outputsMax) return ''
      const options = {
        container,
        previous: which === 'previous',
        tailLines: outputLinesMax,
        limitBytes: outputBytesMax,
      }
      try {
        return await podLog(client, object.metadata.name, { namespace: namespaceOf(object), ...options }, context)
      } catch (error) {
        // The container has not run, its log is gone, its node does not respond, or the user may not read it.
        if (error instanceof StatusError) return ''
        throw error
      }
    },
    unreadable,
    nowMs,
    isCoxswain,
  }
}
