// ManifestFolder: keeps the objects of a folder of manifests in the cluster. A file is applied when it is new or has changed, again after
// a failure, and its objects are deleted when it is removed. Each file is an ApplySet.
import { configMap } from '../../api/core/v1/config-map.ts'
import { plural } from '../../flows/why/explainer/explainer.ts'
import { context, type Context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Gauge, Metrics } from '../../base/observability/metrics.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { YamlParser } from '../../apiserver/http/yaml-parser.ts'
import type { Client } from '../../client/client.ts'
import type { EventRecorder } from '../../client/events/event-recorder.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { ApplySet, nameOf, parentNamespace, type Parent } from './apply-set.ts'
import { documentsIn, objectsIn, type ManifestObject } from './manifest.ts'
import { manifestFiles, readManifestFile, type ManifestFile } from './manifest-files.ts'

/** How often the folder is read. */
const pollMs = 5_000
const retryMsFirst = 5_000
const retryMsMax = 5 * 60_000
/** An attempt that takes longer has failed: a definition may never be established. */
const attemptMsMax = 2 * 60_000
const objectsMax = 10_000
const serverLabel = 'coxswain.dev/manifests-of'
const fileAnnotation = 'coxswain.dev/manifest'

export interface ManifestFolderDeps {
  readonly client: Client
  readonly events: Pick<EventRecorder, 'record'>
  readonly clock: Clock
  readonly log: Log
  readonly files: Gauge
  readonly yaml: YamlParser
}

/** Called once in a process. */
export const manifestGauge = (metrics: Metrics): Gauge =>
  metrics.gauge(
    'coxswain_manifest_files',
    'Files of the folder of manifests, by whether their newest version is applied.',
    ['state'],
  )

interface FileState {
  /** Of the attempt that succeeded or failed last. */
  version: string
  /** The objects of the newest version that could be read. */
  objects: ReadonlySet<string>
  /** Undefined when it is applied. */
  failure: { readonly retryAtMs: number; readonly waitMs: number } | undefined
}

export class ManifestFolder {
  readonly #folder: string
  readonly #server: string
  readonly #deps: ManifestFolderDeps
  readonly #states = new Map<string, FileState>()
  /** Whether the sets of removed files may still be there. */
  #hasRemoved = true
  #folderProblem = ''

  /** `server` names the machine whose folder it is; those of other machines are left alone. */
  constructor(folder: string, server: string, deps: ManifestFolderDeps) {
    this.#folder = folder
    this.#server = labelValueOf(server)
    this.#deps = deps
  }

  async run(signal: AbortSignal): Promise<never> {
    const { clock, log } = this.#deps
    for (;;) {
      const problem = await this.#sync(signal).then(
        () => '',
        (error: unknown) => {
          signal.throwIfAborted()
          return errorText(error)
        },
      )
      if (problem !== '' && problem !== this.#folderProblem)
        log.warn('the folder of manifests cannot be applied', { folder: this.#folder, error: problem })
      this.#folderProblem = problem
      await clock.sleep(pollMs, signal)
    }
  }

  async #sync(signal: AbortSignal): Promise<void> {
    // A folder that is not there, such as one that is not mounted, deletes nothing.
    const files = await this.#deps.clock.outside(manifestFiles(this.#folder))
    if (files === undefined) return
    const names = new Set(files.map(({ name }) => name))
    for (const name of this.#states.keys()) {
      if (names.has(name)) continue
      this.#states.delete(name)
      this.#hasRemoved = true
    }
    if (this.#hasRemoved) await this.#deleteRemoved(names, signal)
    this.#hasRemoved = false
    for (const file of files) if (this.#isDue(file)) await this.#applyFile(file, signal)
    const failed = this.#states.values().reduce((count, { failure }) => count + (failure === undefined ? 0 : 1), 0)
    this.#deps.files.set({ state: 'applied' }, files.length - failed)
    this.#deps.files.set({ state: 'failed' }, failed)
  }

  #isDue({ name, version }: ManifestFile): boolean {
    const state = this.#states.get(name)
    if (state?.version !== version) return true
    return state.failure !== undefined && this.#deps.clock.monotonicMs() >= state.failure.retryAtMs
  }

  async #applyFile(file: ManifestFile, signal: AbortSignal): Promise<void> {
    const { client, clock, log, events } = this.#deps
    const { name: manifest, version } = file
    const set = new ApplySet(client, this.#parentOf(manifest))
    const before = this.#states.get(manifest)
    const state: FileState = { version, objects: before?.objects ?? new Set(), failure: undefined }
    this.#states.set(manifest, state)
    await this.#attempt(signal, async (ctx) => {
      const parent = await set.ensureParent(ctx)
      const note = (type: 'Normal' | 'Warning', reason: string, message: string) =>
        events.record(parent, { type, reason, message }, ctx)
      try {
        const objects = await this.#objectsOf(file, ctx.signal)
        state.objects = new Set(objects.map(keyOf))
        const pruned = await set.apply(objects, ctx)
        log.info('a manifest was applied', { manifest, objects: objects.length, pruned })
        note('Normal', 'Applied', `applied ${plural(objects.length, 'object')}, deleted ${pruned}`)
      } catch (error) {
        note('Warning', 'ApplyFailed', errorText(error))
        throw error
      }
    }).catch((error: unknown) => {
      signal.throwIfAborted()
      const known = before?.version === version ? before.failure : undefined
      const waitMs = known === undefined ? retryMsFirst : Math.min(known.waitMs * 2, retryMsMax)
      state.failure = { retryAtMs: clock.monotonicMs() + waitMs, waitMs }
      log.warn('a manifest cannot be applied', { manifest, error: errorText(error) })
    })
  }

  async #objectsOf(file: ManifestFile, signal: AbortSignal): Promise<readonly ManifestObject[]> {
    const { clock, yaml } = this.#deps
    const documents = await documentsIn(await clock.outside(readManifestFile(file)), yaml, signal)
    const objects = documents.filter((value) => value !== null && value !== undefined).flatMap(objectsIn)
    if (objects.length > objectsMax) throw new Error(`it has ${objects.length} objects; ${objectsMax} are allowed`)
    const keys = new Set<string>()
    for (const object of objects) {
      if (!object.metadata?.name) throw new Error(`an object of the kind ${object.kind} has no metadata.name`)
      const key = keyOf(object)
      if (keys.has(key)) throw new Error(`${nameOf(object)} is in it twice`)
      keys.add(key)
      for (const [other, state] of this.#states)
        if (other !== file.name && state.objects.has(key)) throw new Error(`${nameOf(object)} is in ${other}, too`)
    }
    return objects
  }

  /** Deletes the sets of files that this machine applied, and no longer has. */
  async #deleteRemoved(names: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { client, log } = this.#deps
    await this.#attempt(signal, async (ctx) => {
      const labelSelector = `${serverLabel}=${this.#server}`
      const { items } = await client.of(configMap).list({ namespace: parentNamespace, labelSelector }, ctx)
      for (const { metadata } of items) {
        const manifest = metadata.annotations?.[fileAnnotation]
        if (manifest === undefined || names.has(manifest) || metadata.name !== parentNameOf(manifest)) continue
        const pruned = await new ApplySet(client, this.#parentOf(manifest)).delete(ctx)
        log.info('the objects of a removed manifest were deleted', { manifest, objects: pruned })
      }
    })
  }

  async #attempt(signal: AbortSignal, work: (ctx: Context) => Promise<void>): Promise<void> {
    const deadline = new AbortController()
    const timer = this.#deps.clock.after(attemptMsMax, () =>
      deadline.abort(new Error(`it took more than ${attemptMsMax / 60_000} minutes`)),
    )
    try {
      await work(context(AbortSignal.any([signal, deadline.signal])))
    } finally {
      timer.cancel()
    }
  }

  /** The machine that has applied a file last may delete it. */
  #parentOf(manifest: string): Parent {
    return {
      name: parentNameOf(manifest),
      labels: { [serverLabel]: this.#server },
      annotations: { [fileAnnotation]: manifest },
    }
  }
}

const keyOf = ({ apiVersion, kind, metadata: { name = '', namespace = 'default' } = {} }: ManifestObject): string =>
  `${apiVersion.split('/').slice(0, -1).join()} ${kind} ${namespace} ${name}`

/** A readable name that differs for each file. */
function parentNameOf(manifest: string): string {
  const digest = nodeCrypto.sha256(manifest).toHex().slice(0, 8)
  const readable = manifest
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 200)
    .replaceAll(/^-|-$/g, '')
  return `manifest-${readable}-${digest}`.replaceAll('--', '-')
}

/** A host name may be longer than a label value. */
const labelValueOf = (server: string): string =>
  server.length <= 63 ? server : nodeCrypto.sha256(server).toHex().slice(0, 63)
