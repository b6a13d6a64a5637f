// PodAdmitter: decides whether the node admits a pod, with the current state of the node and its other pods.
import type { Context } from '../../base/observability/context.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ReferencedObjects } from '../objects/referenced-objects.ts'
import type { PodTermination } from '../pod/pod-sync-state.ts'
import type { NodeManager } from './node-manager.ts'
import type { NodeDescription } from './node-status.ts'
import { rejectionOf } from './pod-admission.ts'
import { sysctlRejection } from './sysctl-admission.ts'

export interface PodAdmitterDeps {
  readonly description: NodeDescription
  readonly nodeManager: Pick<NodeManager, 'rejection'>
  readonly allowedUnsafeSysctls: readonly string[]
  readonly objects: Pick<ReferencedObjects, 'node' | 'uncachedNode'>
  /** Admitted pods that have not finished, except the one with this uid. */
  readonly activePods: (except: string) => readonly Pod[]
}

export class PodAdmitter {
  readonly #deps: PodAdmitterDeps

  constructor(deps: PodAdmitterDeps) {
    this.#deps = deps
  }

  /** Why the node rejects the pod; undefined when it admits it. */
  async rejection(pod: Pod, context: Context): Promise<PodTermination | undefined> {
    const { description, nodeManager, allowedUnsafeSysctls, objects, activePods } = this.#deps
    const { name, capacity, allocatable = capacity, operatingSystem } = description
    const earlier = nodeManager.rejection(pod) ?? sysctlRejection(pod.spec, allowedUnsafeSysctls)
    if (earlier !== undefined) return earlier
    const others = activePods(pod.metadata.uid)
    const rejectionOn = (node: Node | undefined) =>
      rejectionOf({ pod, node: node ?? { metadata: { name } }, allocatable, operatingSystem, others })
    // The Node object is only read for pods that depend on its labels.
    const { nodeSelector, affinity } = pod.spec
    if ((nodeSelector ?? affinity?.nodeAffinity) === undefined) return rejectionOn(undefined)
    const rejection = rejectionOn(await objects.node(context))
    // The scheduler may have seen a label that is newer than the cached node.
    return rejection?.reason === 'NodeAffinity' ? rejectionOn(await objects.uncachedNode(context)) : rejection
  }
}
