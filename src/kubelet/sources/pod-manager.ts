// NodePods: the pods that a node is to run: those that the API server gives to it, and those of its own manifests.
import type { Clock } from '../../base/time/clock.ts'
import { causeOf, type Cause, type FlowId, type FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { keyOf, objectKey, splitKey } from '../../api/meta/object.ts'
import type { Client } from '../../client/client.ts'
import { Informer, type ObjectChange } from '../../client/informer/informer.ts'
import type { NodeHost } from '../node/node-host.ts'
import { isMirrorPod, sourceAnnotation } from './static-pod.ts'
import { StaticPods } from './static-pods.ts'

export interface PodManagerDeps {
  readonly client: Client
  readonly clock: Clock
  readonly log: Log
  readonly flow: FlowRecorder
  readonly nodeName: string
  readonly host: Pick<NodeHost, 'manifests' | 'digest'>
  /** Whether a pod was taken whose status does not say so yet. */
  readonly isAdmitted: (uid: string) => boolean
  /** A pod has come, has changed or, when undefined, is gone. */
  readonly onChange: (uid: string, now: Pod | undefined, cause: Cause) => void
}

const uidIndex = 'uid'

/** That the node has looked at a manifest, which nobody told it to. */
function recordRead(flow: FlowRecorder, arrow: 'reconcile' | 'step', nodeName: string, now: Pod | undefined): FlowId {
  const source = now?.metadata.annotations?.[sourceAnnotation] ?? 'manifest'
  const [kubelet, subject] = [`kubelet/${nodeName}`, now && { resource: 'pods', ...splitKey(keyOf(now)) }]
  return flow.record(arrow, kubelet, kubelet, `read from ${source}`, subject)
}

/** The first line says what is wrong; what follows shows the manifest itself. */
const firstLineOf = (text: string): string => text.replace(/:?\n[^]*/, '')

export class PodManager {
  readonly #given: Informer<Pod>
  readonly #onChange: PodManagerDeps['onChange']
  readonly #isTaken: PodManagerDeps['isAdmitted']
  /** Undefined where the node has no manifests. */
  readonly staticPods: StaticPods | undefined

  constructor({ client, clock, log, flow, nodeName, host, isAdmitted: isTaken, onChange }: PodManagerDeps) {
    const selection = { fieldSelector: `spec.nodeName=${nodeName}` }
    this.#given = new Informer<Pod>(pod, client.of(pod), { clock, log }, selection)
    // A pod deleted and made again under its name is another pod.
    this.#given.addIndex(uidIndex, ({ metadata }) => [metadata.uid])
    this.#given.onChange((change) => this.#changed(change))
    this.#onChange = onChange
    this.#isTaken = isTaken
    const { manifests: sources, digest } = host
    if (sources.length === 0) return
    this.staticPods = new StaticPods({
      ...{ client, clock, log, nodeName, sources, digest },
      present: (key) => this.#given.get(key),
      onChange: (uid, cause) => {
        const now = this.find(uid)
        onChange(uid, now, cause ?? causeOf(recordRead(flow, 'reconcile', nodeName, now)))
      },
      onBroken: (own, why) => flow.finish(recordRead(flow, 'step', nodeName, own), firstLineOf(why)),
    })
  }

  start(tasks: TaskGroup): void {
    tasks.start('pods', (signal) => this.#given.run(signal))
    const { staticPods: statics } = this
    if (statics !== undefined) tasks.start('static pods', (signal) => statics.run(signal))
  }

  /** Resolves when the API server has said which pods there are. */
  get synced(): Promise<void> {
    return this.#given.synced
  }

  /** As the API server has them. */
  all(): Pod[] {
    return [...this.#given.all()]
  }

  /** As the API server told it last. */
  byName(namespace: string, name: string): Pod | undefined {
    return this.#given.get(objectKey(namespace, name))
  }

  /** Under which uid the node runs a pod: of a mirror, that of the pod of its own. */
  runningUid(shown: Pod): string {
    return (isMirrorPod(shown) ? this.staticPods?.uidForMirror(shown) : undefined) ?? shown.metadata.uid
  }

  find(uid: string): Pod | undefined {
    return this.staticPods?.find(uid) ?? this.#given.byIndex(uidIndex, uid)[0]
  }

  /** Pods that the node has taken and that have not ended, its own ones among them, without the one of this uid. */
  activePods(except = ''): Pod[] {
    const { staticPods: statics } = this
    const found: Pod[] = []
    for (const other of this.#given.all()) {
      const { uid } = other.metadata
      if (uid === except || isPodFinished(other) || statics?.uidForMirror(other)) continue
      if (other.status.startTime !== undefined || this.#isTaken(uid)) found.push(other)
    }
    const own = statics?.others(except).map((one) => statics.find(one.metadata.uid) ?? one) ?? []
    return [...found, ...own.filter((other) => !isPodFinished(other))]
  }

  #changed({ now, before, cause }: ObjectChange<Pod>): void {
    const either = now ?? before
    if (either !== undefined && isMirrorPod(either)) {
      const uid = this.staticPods?.uidForMirror(either)
      if (uid !== undefined) return this.#onChange(uid, this.find(uid), cause)
      // Nobody stands behind it any more: it goes as a pod goes that never ran.
      if (this.staticPods === undefined) return
    }
    if (before !== undefined && before.metadata.uid !== now?.metadata.uid)
      this.#onChange(before.metadata.uid, undefined, cause)
    if (now !== undefined) this.#onChange(now.metadata.uid, now, cause)
  }
}
