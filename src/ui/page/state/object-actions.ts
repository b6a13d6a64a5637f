// Actions on objects. Each is a question first, which says what follows; a deletion is tried as a dry run, so
// that what the server rejects is known before.
import { addDebugContainer, debugOffer, type DebugChoice } from '../../calls/debug-container.ts'
import { drainPlan, evictPods, type DrainProgress } from '../../calls/drain.ts'
import {
  earlierRevisions,
  readWorkload,
  rollBack,
  type RevisionObject,
  type RolloutRevision,
} from '../../calls/rollback.ts'
import { cordonNode, deleteObject, restartWorkload, scaleObject, suspendObject } from '../../calls/workload-calls.ts'
import { replicasIn, replicasMax } from '../../calls/workload-kinds.ts'
import {
  actionTexts,
  commandOf,
  consequencesOfKind,
  type ActionKind,
  type ActionOn,
} from '../model/actions/action-texts.ts'
import { consequencesOf } from '../model/actions/deletion.ts'
import { consequencesOfDrain } from '../model/actions/drain-texts.ts'
import type { OwnedObject } from '../model/owner-tree.ts'
import { resourcePath } from '../source/resource-path.ts'
import { resourceId, type ClusterObject, type Resource, type Source } from '../source/source.ts'

/** An action that waits for its confirmation, or runs. */
export interface PendingAction extends ActionOn {
  /** What follows; undefined while it is not known. */
  readonly consequences: readonly string[] | undefined
  readonly failure: string | undefined
  /** How many objects are done, while the action runs. */
  readonly done: number | undefined
  /** How far a drain is. */
  readonly drain: DrainProgress | undefined
  /** The revisions that can be chosen for a roll back, and the present template. */
  readonly revisions: readonly RolloutRevision[]
  readonly template: RolloutRevision['template'] | undefined
  /** The containers whose processes a debug container can see. */
  readonly debugTargets: readonly string[]
}

const podResource: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', isNamespaced: true, verbs: [] }

/** The image that kubectl's documentation uses. */
const defaultDebugImage = 'busybox'

export interface ObjectActionsDeps {
  readonly source: Source
  /** The objects that would be deleted with one, by the garbage collector. */
  readonly ownedBy: (object: Pick<ClusterObject, 'metadata'>) => Promise<readonly OwnedObject[]>
  readonly timeMs: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly notify: (text: string) => void
  readonly showTerminal: (pod: Pick<ClusterObject, 'metadata'>, container: string) => void
  /** Writes to the clipboard. */
  readonly copy: (text: string) => Promise<void>
  readonly changed: () => void
}

export class ObjectActions {
  pending: PendingAction | undefined
  readonly #deps: ObjectActionsDeps
  #running = new AbortController()

  constructor(deps: ObjectActionsDeps) {
    this.#deps = deps
  }

  /** Asks for the confirmation. */
  ask(kind: ActionKind, resource: Resource, objects: readonly Pick<ClusterObject, 'metadata'>[], number = ''): void {
    if (objects.length === 0) return
    this.#running.abort()
    this.#running = new AbortController()
    this.pending = {
      kind,
      resource,
      objects,
      number,
      consequences: kind === 'delete' || kind === 'drain' ? undefined : consequencesOfKind(kind, resource),
      failure: undefined,
      done: undefined,
      drain: undefined,
      revision: undefined,
      revisions: [],
      template: undefined,
      debug: kind === 'debug' ? { image: defaultDebugImage, target: '' } : undefined,
      debugTargets: [],
    }
    this.#deps.changed()
    if (kind === 'delete') void this.#tryDeletion(this.pending, this.#running.signal)
    if (kind === 'rollback') void this.#findRevisions(this.pending, this.#running.signal)
    if (kind === 'debug') void this.#findTargets(this.pending, this.#running.signal)
    if (kind === 'drain') void this.#planDrain(this.pending, this.#running.signal)
  }

  setNumber(number: string): void {
    this.#set({ number, failure: undefined })
  }

  setDebug(change: Partial<DebugChoice>): void {
    const { debug } = this.pending ?? {}
    if (debug !== undefined) this.#set({ debug: { ...debug, ...change }, failure: undefined })
  }

  chooseRevision(revision: RolloutRevision): void {
    this.#set({ revision, failure: undefined })
  }

  /** Does it. Objects that fail stay in the question with the first error. */
  async confirm(): Promise<void> {
    const { pending } = this
    if (pending === undefined || pending.done !== undefined) return
    if (pending.kind === 'scale' && replicasIn(pending.number) === undefined) {
      this.#set({ failure: `replicas: must be a whole number between 0 and ${replicasMax}` })
      return
    }
    if (pending.kind === 'forward' && !isPort(pending.number)) {
      this.#set({ failure: 'port: must be a whole number between 1 and 65535' })
      return
    }
    if (pending.debug?.image.trim() === '') {
      this.#set({ failure: 'image: must not be empty' })
      return
    }
    // Its failure says why there is none.
    if (pending.kind === 'rollback' && pending.revision === undefined) return
    const { signal } = this.#running
    const failed: Pick<ClusterObject, 'metadata'>[] = []
    let failure = ''
    this.#set({ done: 0, failure: undefined })
    for (const [at, object] of pending.objects.entries()) {
      try {
        await this.#run(pending, object, signal)
      } catch (error) {
        if (signal.aborted) return
        failed.push(object)
        failure ||= `${object.metadata.name}: ${error instanceof Error ? error.message : String(error)}`
      }
      if (signal.aborted) return
      this.#set({ done: at + 1 })
    }
    const succeeded = pending.objects.length - failed.length
    if (failed.length > 0) {
      const counted = pending.objects.length === 1 ? '' : `${failed.length} of ${pending.objects.length} failed. `
      this.#set({ objects: failed, failure: `${counted}${failure}`, done: undefined })
    } else this.close()
    if (succeeded > 0) this.#deps.notify(resultText(pending, succeeded))
  }

  /** Cancels the question, or stops what runs. */
  close(): void {
    this.#sayStopped()
    this.#running.abort()
    this.pending = undefined
    this.#deps.changed()
  }

  async #run(
    pending: PendingAction,
    { metadata }: Pick<ClusterObject, 'metadata'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { kind, resource, number, revision, debug } = pending
    const { source, timeMs } = this.#deps
    const calls = source.actions?.calls
    if (calls === undefined) throw new Error('This page shows a record.')
    const target = resourcePath(resource, metadata.namespace, metadata.name)
    switch (kind) {
      case 'cordon':
      case 'uncordon':
        return cordonNode(calls, target, kind === 'cordon', signal)
      case 'resume':
      case 'suspend':
        return suspendObject(calls, target, kind === 'suspend', signal)
      case 'debug':
        return debug === undefined ? undefined : this.#debug(target, { metadata }, debug, signal)
      case 'drain':
        return this.#drain(target, metadata.name, signal)
      case 'delete':
        return deleteObject(calls, target, { uid: metadata.uid ?? '', isNow: false }, signal)
      case 'forward':
        return this.#deps.copy(commandOf(pending))
      case 'restart':
        return restartWorkload(calls, target, { singular: resource.kind.toLowerCase(), nowMs: timeMs() }, signal)
      case 'rollback':
        return revision === undefined ? undefined : rollBack(calls, target, revision, signal)
      case 'scale':
        return scaleObject(calls, target, replicasIn(number) ?? 0, signal)
      default:
        return kind satisfies never
    }
  }

  /** The name is chosen last, so that the container of another user is not named like it. */
  async #debug(
    target: string,
    object: Pick<ClusterObject, 'metadata'>,
    choice: DebugChoice,
    signal: AbortSignal,
  ): Promise<void> {
    const { source, showTerminal } = this.#deps
    const calls = source.actions?.calls
    if (calls === undefined) return
    const { name } = await debugOffer(calls, target, signal)
    await addDebugContainer(calls, target, { ...choice, image: choice.image.trim(), name }, signal)
    if (!signal.aborted) showTerminal(object, name)
  }

  async #findTargets({ resource, objects: [object] }: PendingAction, signal: AbortSignal): Promise<void> {
    const calls = this.#deps.source.actions?.calls
    if (object === undefined || calls === undefined) return
    const { metadata } = object
    let change: Partial<PendingAction>
    try {
      const { targets } = await debugOffer(calls, resourcePath(resource, metadata.namespace, metadata.name), signal)
      const { debug } = this.pending ?? {}
      change = { debugTargets: targets, debug: debug && { ...debug, target: debug.target || (targets[0] ?? '') } }
    } catch (error) {
      change = { failure: (error as Error).message }
    }
    if (!signal.aborted) this.#set(change)
  }

  async #findRevisions({ resource, objects: [object] }: PendingAction, signal: AbortSignal): Promise<void> {
    const { source, ownedBy } = this.#deps
    const calls = source.actions?.calls
    if (object === undefined || calls === undefined) return
    const { metadata } = object
    let change: Partial<PendingAction>
    try {
      const target = resourcePath(resource, metadata.namespace, metadata.name)
      const { uid, template } = await readWorkload(calls, target, signal)
      const owned = await ownedBy({ metadata: { ...metadata, uid } })
      const revisions = earlierRevisions(
        uid,
        owned.map((each) => each.object as RevisionObject),
      )
      const failure = revisions.length === 0 ? 'There is no earlier revision.' : undefined
      change = { revisions, template, failure, revision: revisions[0] }
    } catch (error) {
      change = { failure: (error as Error).message }
    }
    if (!signal.aborted) this.#set(change)
  }

  #sayStopped(): void {
    const {
      objects: [node],
      drain,
      failure,
    } = this.pending ?? { objects: [] }
    if (drain === undefined || failure !== undefined || drain.done === drain.total) return
    this.#deps.notify(`The drain is stopped. Node ${node?.metadata.name ?? ''} stays cordoned.`)
  }

  async #drain(target: string, node: string, signal: AbortSignal): Promise<void> {
    const { source, sleep } = this.#deps
    const api = source.actions?.calls
    if (api === undefined) return
    await cordonNode(api, target, true, signal)
    // Pods that were scheduled to it since the question are evicted too.
    const { evicted } = drainPlan(await this.#podsOf(node))
    const report = (drain: DrainProgress): void => {
      if (!signal.aborted) this.#set({ drain })
    }
    await evictPods({ api, sleep, report }, evicted, signal)
  }

  #podsOf(node: string): Promise<readonly ClusterObject[]> {
    const options = { namespace: '', revision: undefined, fieldSelector: `spec.nodeName=${node}` }
    return this.#deps.source.list(podResource, options)
  }

  async #planDrain({ objects: [node] }: PendingAction, signal: AbortSignal): Promise<void> {
    let change: Partial<PendingAction>
    try {
      change = { consequences: consequencesOfDrain(drainPlan(await this.#podsOf(node?.metadata.name ?? ''))) }
    } catch (error) {
      change = { consequences: [], failure: (error as Error).message }
    }
    if (!signal.aborted) this.#set(change)
  }

  /** What follows is shown of a single object; of several only what follows from their kind. */
  async #tryDeletion({ resource, objects }: PendingAction, signal: AbortSignal): Promise<void> {
    const { source, ownedBy } = this.#deps
    const [first, ...others] = objects
    if (first === undefined) return
    const target = resourcePath(resource, first.metadata.namespace, first.metadata.name)
    const calls = source.actions?.calls
    const options = { uid: first.metadata.uid ?? '', isNow: false, isDryRun: true }
    const trying = calls === undefined ? undefined : deleteObject(calls, target, options, signal)
    const [owned, tried] = await Promise.allSettled([others.length === 0 ? ownedBy(first) : [], trying])
    if (signal.aborted) return
    const found = owned.status === 'fulfilled' ? owned.value : []
    this.#set({
      consequences: consequencesOf(resourceId(resource), objects, found),
      failure: tried.status === 'rejected' ? (tried.reason as Error).message : undefined,
    })
  }

  #set(change: Partial<PendingAction>): void {
    if (this.pending === undefined) return
    this.pending = { ...this.pending, ...change }
    this.#deps.changed()
  }
}

const isPort = (text: string): boolean => /^[1-9]\d{0,4}$/.test(text.trim()) && Number(text) <= 65_535

const resultText = ({ kind, resource, objects }: PendingAction, count: number): string =>
  kind === 'forward'
    ? 'The command is in the clipboard.'
    : count === 1
      ? `${resource.kind} ${objects[0]?.metadata.name ?? ''} ${actionTexts[kind].one}.`
      : `${count} ${resource.plural} ${actionTexts[kind].several}.`
