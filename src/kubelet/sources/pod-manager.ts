// PodManager: the pods of a node: those that the API server has bound to it, and its static pods.
import type { Clock } from '../../base/time/clock.ts'
import { causeOf, type Cause, type FlowId, type FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { keyOf, objectKey, splitKey } from '../../api/meta/object.ts'
import type { Client } from '../../client/client.ts'
import { Informer, type ObjectChange } from '../../client/informer/informer.ts'
import { isFileName } from '../../base/text/file-names.ts'
import { isMirrorPod, sourceAnnotation } from './static-pod.ts'
import type { ManifestSource } from '../../machine/manifests/manifest-source.ts'
import { StaticPods, type StaticPodsDeps } from './static-pods.ts'

export interface PodManagerDeps {
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly flow: FlowRecorder
  readonly nodeName: string
  readonly host: Pick<StaticPodsDeps, 'digest'> & { readonly manifests: readonly ManifestSource[] }
  /** Whether a pod is admitted whose status does not show it yet. */
  readonly isAdmitted: (uid: string) => boolean
}

/** A pod was added or changed, or is gone (undefined). */
export type PodChangeListener = (uid: string, now: Pod | undefined, cause: Cause) => void

const uidIndex = 'uid'

/** Records that a manifest was read, which is a root cause of flow events. */
function recordManifestRead(
  flow: FlowRecorder,
  arrow: 'reconcile' | 'step',
  nodeName: string,
  now: Pod | undefined,
): FlowId {
  const source = now?.metadata.annotations?.[sourceAnnotation] ?? 'manifest'
  const kubelet = `kubelet/${nodeName}`
  const subject = now && { resource: 'pods', ...splitKey(keyOf(now)) }
  return flow.record(arrow, kubelet, kubelet, `read from ${source}`, subject)
}

/** The first name of the pod that cannot be a part of a path on the node. The API server accepts no such names. */
function unusableName({ metadata, spec }: Pod): string | undefined {
  const { namespace = '', name, uid } = metadata
  const { containers, initContainers = [], ephemeralContainers = [], volumes = [] } = spec
  const named = [...containers, ...initContainers, ...ephemeralContainers, ...volumes]
  return [namespace, name, uid, ...named.map((each) => each.name)].find((each) => !isFileName(each))
}

/** The first line is the error; the following ones quote the manifest. */
const firstLineOf = (text: string): string => text.replace(/:?\n[^]*/, '')

export class PodManager {
  readonly #informer: Informer<Pod>
  readonly #listeners = new Set<PodChangeListener>()
  readonly #isAdmitted: PodManagerDeps['isAdmitted']
  readonly #log: Log
  /** Undefined when the node has no manifest sources. */
  readonly staticPods: StaticPods | undefined

  constructor({ client, clock, random, log, flow, nodeName, host, isAdmitted }: PodManagerDeps) {
    const selection = { fieldSelector: `spec.nodeName=${nodeName}` }
    const informer = new Informer<Pod>(pod, client.of(pod), { clock, random, log }, selection)
    // A pod that is created again under the same name is another pod.
    informer.addIndex(uidIndex, ({ metadata }) => [metadata.uid])
    this.#informer = informer
    this.#isAdmitted = isAdmitted
    this.#log = log
    const { manifests, digest } = host
    const listeners = this.#listeners
    this.staticPods =
      manifests.length === 0
        ? undefined
        : new StaticPods({
            client,
            clock,
            log,
            nodeName,
            sources: manifests,
            digest,
            present: (key) => informer.get(key),
            onChange: (uid, now, cause = causeOf(recordManifestRead(flow, 'reconcile', nodeName, now))) => {
              for (const listener of listeners) listener(uid, now, cause)
            },
            onInvalid: (own, why) => flow.finish(recordManifestRead(flow, 'step', nodeName, own), firstLineOf(why)),
          })
    informer.onChange((change) => this.#changed(change))
  }

  /** Listeners that are added before `start` get every pod. */
  onChange(listener: PodChangeListener): void {
    this.#listeners.add(listener)
  }

  start(tasks: TaskGroup): void {
    tasks.start('pods', (signal) => this.#informer.run(signal))
    const { staticPods } = this
    if (staticPods !== undefined) tasks.start('static pods', (signal) => staticPods.run(signal))
  }

  /** Resolves when the pods have been listed. */
  get synced(): Promise<void> {
    return this.#informer.synced
  }

  /** All pods in the API, including mirror pods. */
  all(): Pod[] {
    return [...this.#informer.all()]
  }

  byName(namespace: string, name: string): Pod | undefined {
    return this.#informer.get(objectKey(namespace, name))
  }

  /** The uid that the runtime knows: that of the static pod for a mirror pod. */
  runningUid(shown: Pod): string {
    return (isMirrorPod(shown) ? this.staticPods?.uidForMirror(shown) : undefined) ?? shown.metadata.uid
  }

  find(uid: string): Pod | undefined {
    return this.staticPods?.find(uid) ?? this.#informer.byIndex(uidIndex, uid)[0]
  }

  /** Admitted pods that have not finished, including static pods, except the one with this uid. */
  activePods(except = ''): Pod[] {
    const { staticPods } = this
    const found: Pod[] = []
    for (const other of this.#informer.all()) {
      const { uid } = other.metadata
      if (uid === except || isPodFinished(other) || staticPods?.uidForMirror(other)) continue
      if (other.status.startTime !== undefined || this.#isAdmitted(uid)) found.push(other)
    }
    const own = staticPods?.others(except).map((one) => staticPods.find(one.metadata.uid) ?? one) ?? []
    return [...found, ...own.filter((other) => !isPodFinished(other))]
  }

  #changed({ now, before, cause }: ObjectChange<Pod>): void {
    const either = now ?? before
    if (either !== undefined && isMirrorPod(either)) {
      const uid = this.staticPods?.uidForMirror(either)
      if (uid !== undefined) return this.#notify(uid, this.find(uid), cause)
      // A mirror pod without a static pod is deleted like a pod that never ran.
      if (this.staticPods === undefined) return
    }
    if (before !== undefined && before.metadata.uid !== now?.metadata.uid)
      this.#notify(before.metadata.uid, undefined, cause)
    if (now === undefined) return
    const unusable = unusableName(now)
    if (unusable === undefined) return this.#notify(now.metadata.uid, now, cause)
    this.#log.warn('a pod has a name that cannot be a file name', { pod: keyOf(now), name: unusable })
  }

  #notify(...change: Parameters<PodChangeListener>): void {
    for (const listener of this.#listeners) listener(...change)
  }
}
