// ApplySet: the objects of one manifest, applied with server-side apply; those that an earlier version of it contained are deleted. It
// has the labels and annotations of upstream's ApplySets, so that `kubectl get … -l applyset.kubernetes.io/part-of=<id>` lists its
// objects. What a set may contain is written to its parent before anything is applied, so an attempt that is interrupted leaves no
// object that a later one does not find.
import { customResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import { configMap, type ConfigMap } from '../../api/core/v1/config-map.ts'
import { namespace } from '../../api/core/v1/namespace.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { Context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import type { Client } from '../../client/client.ts'
import { discover, type ServedKind } from '../../client/discovery.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import type { ManifestObject } from './manifest.ts'
import { untilEstablished } from './until-established.ts'

export const parentNamespace = 'kube-system'
const fieldManager = 'coxswain-manifests'
const tooling = 'coxswain/v1'
const idLabel = 'applyset.kubernetes.io/id'
const memberLabel = 'applyset.kubernetes.io/part-of'
const toolingAnnotation = 'applyset.kubernetes.io/tooling'
const kindsAnnotation = 'applyset.kubernetes.io/contains-group-kinds'
const namespacesAnnotation = 'applyset.kubernetes.io/additional-namespaces'
const itemsPerPage = 500
/** Further ones are counted. */
const problemsShown = 5

/** The parent of a set: a ConfigMap in kube-system. */
export interface Parent {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** What a set may contain: kinds with their groups, and namespaces. */
interface Content {
  readonly kinds: ReadonlySet<string>
  readonly namespaces: ReadonlySet<string>
}

export class ApplySet {
  readonly #client: Client
  readonly #parent: Parent
  readonly #id: string

  constructor(client: Client, parent: Parent) {
    this.#client = client
    this.#parent = parent
    this.#id = applySetId(parent.name)
  }

  /** Finds or creates the parent. */
  async ensureParent(context: Context): Promise<ConfigMap> {
    const found = await this.#client.of(configMap).find(this.#parent.name, parentNamespace, context)
    return found ?? (await this.#writeParent({ kinds: new Set(), namespaces: new Set() }, context))
  }

  /** Throws what is wrong with any object; the others are applied, and nothing is deleted. Returns how many were deleted. */
  async apply(objects: readonly ManifestObject[], context: Context): Promise<number> {
    const before = contentOf(await this.ensureParent(context))
    const after: Content = {
      kinds: new Set(objects.map(groupKindOf)),
      namespaces: new Set(objects.map(({ metadata }) => metadata?.namespace ?? 'default')),
    }
    const either = {
      kinds: before.kinds.union(after.kinds),
      namespaces: before.namespaces.union(after.namespaces),
    }
    await this.#writeParent(either, context)
    const applied = await this.#applyAll(objects, context)
    const pruned = await this.#prune(either, applied, context)
    await this.#writeParent(after, context)
    return pruned
  }

  /** Deletes the objects, and then the parent. Returns how many there were. */
  async delete(context: Context): Promise<number> {
    const parent = await this.#client.of(configMap).find(this.#parent.name, parentNamespace, context)
    if (parent === undefined) return 0
    const pruned = await this.#prune(contentOf(parent), new Set(), context)
    const { name, uid } = parent.metadata
    await this.#client.of(configMap).delete(name, parentNamespace, { uid }, context)
    return pruned
  }

  #writeParent({ kinds, namespaces }: Content, context: Context): Promise<ConfigMap> {
    const { name, labels, annotations } = this.#parent
    const metadata = {
      name,
      namespace: parentNamespace,
      labels: { ...labels, [idLabel]: this.#id },
      annotations: {
        ...annotations,
        [toolingAnnotation]: tooling,
        [kindsAnnotation]: [...kinds].toSorted().join(),
        [namespacesAnnotation]: [...namespaces]
          .filter((each) => each !== parentNamespace)
          .toSorted()
          .join(),
      },
    }
    return this.#client.of(configMap).apply({ metadata }, { fieldManager, force: true }, context)
  }

  /** Namespaces first, then definitions, then what they define. Returns the uids of all objects. */
  async #applyAll(objects: readonly ManifestObject[], context: Context): Promise<ReadonlySet<string>> {
    const uids = new Set<string>()
    const problems: string[] = []
    const applySome = async (some: readonly ManifestObject[]) => {
      if (some.length === 0) return
      const { kinds } = await discover(this.#client, context)
      for (const object of some) {
        try {
          uids.add(await this.#applyOne(object, kinds, context))
        } catch (error) {
          context.signal.throwIfAborted()
          problems.push(`${nameOf(object)}: ${errorText(error)}`)
        }
      }
    }
    const { namespaces = [], definitions = [], others = [] } = Object.groupBy(objects, stageOf)
    await applySome(namespaces)
    await applySome(definitions)
    // What could not be applied is reported with its cause, and not waited for.
    if (definitions.length > 0 && problems.length === 0) {
      const sources = new Map(definitions.map((each) => [each.metadata?.name ?? '', nameOf(each)]))
      await untilEstablished(this.#client, sources, context)
    }
    await applySome(others)
    if (problems.length === 0) return uids
    const more = problems.length > problemsShown ? `; and ${problems.length - problemsShown} more` : ''
    throw new Error(`${problems.slice(0, problemsShown).join('; ')}${more}`)
  }

  async #applyOne(object: ManifestObject, kinds: readonly ServedKind[], context: Context): Promise<string> {
    const kind = kinds.find(
      (each) => each.kind.kind === object.kind && each.kind.apiVersion === object.apiVersion,
    )?.kind
    if (kind === undefined)
      throw new Error(
        `no matches for kind ${JSON.stringify(object.kind)} in version ${JSON.stringify(object.apiVersion)}`,
      )
    const { metadata = {} } = object
    const { labels = {} } = metadata as { readonly labels?: Readonly<Record<string, string>> }
    const labelled = { ...object, metadata: { ...metadata, labels: { ...labels, [memberLabel]: this.#id } } }
    const options = { fieldManager, force: true, fieldValidation: 'Strict' } as const
    return (await this.#client.of(kind).apply(labelled, options, context)).metadata.uid
  }

  /** Deletes the objects of the set whose uid is not among these. */
  async #prune({ kinds }: Pick<Content, 'kinds'>, kept: ReadonlySet<string>, context: Context): Promise<number> {
    let pruned = 0
    const { kinds: served } = await discover(this.#client, context)
    for (const groupKind of kinds) {
      const found = served.find(({ kind, isPreferred }) => isPreferred && groupKindOf(kind) === groupKind)
      // Without its definition there are no objects.
      if (found !== undefined) pruned += await this.#pruneKind(found.kind, kept, context)
    }
    return pruned
  }

  async #pruneKind(kind: Kind, kept: ReadonlySet<string>, context: Context): Promise<number> {
    const objects = this.#client.of(kind)
    const labelSelector = `${memberLabel}=${this.#id}`
    let pruned = 0
    let continueToken = ''
    do {
      const page = await objects.list({ labelSelector, limit: itemsPerPage, continueToken }, context)
      ;({ continueToken } = page)
      for (const { metadata } of page.items) {
        if (kept.has(metadata.uid) || metadata.deletionTimestamp !== undefined) continue
        const { name, namespace: place = '', uid } = metadata
        await objects.delete(name, place, { uid, propagationPolicy: 'Background' }, context)
        pruned++
      }
    } while (continueToken !== '')
    return pruned
  }
}

/** As upstream computes it, from the name, namespace, kind and group of the parent. */
export function applySetId(parentName: string): string {
  const digest = nodeCrypto.sha256(`${parentName}.${parentNamespace}.ConfigMap.`)
  return `applyset-${digest.toBase64({ alphabet: 'base64url', omitPadding: true })}-v1`
}

/** `Deployment.apps`; `ConfigMap` of the core group. */
function groupKindOf({ apiVersion, kind }: Pick<ManifestObject, 'apiVersion' | 'kind'>): string {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  return group === '' ? kind : `${kind}.${group}`
}

function contentOf({ metadata: { annotations = {} } }: ConfigMap): Content {
  const setIn = (text = '') => new Set(text.split(',').filter((each) => each !== ''))
  return { kinds: setIn(annotations[kindsAnnotation]), namespaces: setIn(annotations[namespacesAnnotation]) }
}

const stageOf = (object: ManifestObject): 'namespaces' | 'definitions' | 'others' => {
  const groupKind = groupKindOf(object)
  if (groupKind === groupKindOf(namespace)) return 'namespaces'
  return groupKind === groupKindOf(customResourceDefinition) ? 'definitions' : 'others'
}

/** `Deployment shop/web`. */
export const nameOf = ({ kind, metadata: { name = '', namespace: place } = {} }: ManifestObject): string =>
  `${kind} ${place === undefined ? '' : `${place}/`}${name}`
