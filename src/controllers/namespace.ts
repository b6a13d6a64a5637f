// Namespace deletion: deletes the content of a terminating namespace, pods first, and then removes its finalizer. The
// conditions of the namespace report what remains.
import { rfc3339 } from '../base/time/clock.ts'
import { namespace, type Namespace, type NamespaceCondition } from '../api/core/v1/namespace.ts'
import { pod } from '../api/core/v1/pod/pod.ts'
import { isBeingDeleted } from '../api/meta/object.ts'
import { errorText } from '../base/observability/log.ts'
import type { Context } from '../base/observability/context.ts'
import { equalValues } from '../schema/json/json-value.ts'
import type { Client } from '../client/client.ts'
import { discover, discoveryErrorText, type DiscoveryResult, type ServedKind } from '../client/discovery.ts'
import { defineController } from './runtime/controller.ts'

const contentFinalizer = 'kubernetes'
/** Content that terminates gracefully is checked again soon; content that is held for long, less often. */
const recheckMsMin = 500
const recheckMsMax = 8_000
export const recheckMs = (sinceMs: number): number => Math.min(Math.max(sinceMs / 4, recheckMsMin), recheckMsMax)

export const namespaceController = defineController({
  name: 'namespace',
  account: 'namespace-controller',
  watches: [namespace],
  enqueues: (_, { key, now }) => (now !== undefined && isBeingDeleted(now) ? [key] : []),
  async reconcile(key, { client, cached, nowMs }, context) {
    const object = cached(namespace, key)
    if (object === undefined || !isBeingDeleted(object)) return undefined
    if (!object.spec.finalizers?.includes(contentFinalizer)) return undefined
    const { kinds, discovery } = await contentKinds(client, context)
    const pods = kinds.filter(isPods)
    const others = kinds.filter((served) => !isPods(served))
    const first = await removeContent(pods, key, client, context)
    const content = isEmpty(first) ? await removeContent(others, key, client, context) : first
    if (!isEmpty(content) || discovery !== undefined) {
      await updateConditions(object, { ...content, discovery }, nowMs, client, context)
      return recheckMs(nowMs - Date.parse(object.metadata.deletionTimestamp ?? rfc3339(nowMs)))
    }
    await finalize(object, client, context)
    return undefined
  },
})

const isPods = ({ kind }: ServedKind): boolean => kind.apiVersion === pod.apiVersion && kind.plural === pod.plural

/**
 * All namespaced kinds that can be deleted, and the discovery error, if any: it blocks the deletion of the namespace.
 */
async function contentKinds(
  client: Client,
  context: Context,
): Promise<{ readonly kinds: readonly ServedKind[]; readonly discovery: string | undefined }> {
  let found: DiscoveryResult
  try {
    found = await discover(client, context)
  } catch (error) {
    if (context.signal.aborted) throw error
    return { kinds: [], discovery: errorText(error) }
  }
  const { kinds, failing } = found
  const message = `Discovery failed for some groups, ${failing.length} failing: ${discoveryErrorText(found)}`
  return {
    kinds: kinds.filter(({ kind, verbs, isPreferred }) => kind.namespaced && isPreferred && verbs.includes('delete')),
    discovery: failing.length === 0 ? undefined : message,
  }
}

interface Content {
  /** The number of remaining objects by resource: `pods.`, `deployments.apps`. */
  readonly remaining: ReadonlyMap<string, number>
  readonly finalizers: ReadonlyMap<string, number>
  readonly failures: readonly string[]
}

interface ContentReport extends Content {
  readonly discovery: string | undefined
}

const isEmpty = ({ remaining, failures }: Content): boolean => remaining.size + failures.length === 0

const deletion = { propagationPolicy: 'Background' } as const

/** Deletes the objects of these kinds; returns those that remain. */
async function removeContent(
  kinds: readonly ServedKind[],
  name: string,
  client: Client,
  context: Context,
): Promise<Content> {
  const remaining = new Map<string, number>()
  const finalizers = new Map<string, number>()
  const failures: string[] = []
  for (const { kind, verbs } of kinds) {
    const resource = client.metadataOf(kind)
    try {
      const before = await resource.list({ namespace: name }, context)
      const present = before.items.filter((object) => !isBeingDeleted(object))
      if (before.items.length === 0) continue
      if (verbs.includes('deletecollection')) {
        if (present.length > 0) await client.of(kind).deleteAll(name, deletion, context)
      } else for (const { metadata } of present) await client.of(kind).delete(metadata.name, name, deletion, context)
      const { items } = await resource.list({ namespace: name }, context)
      if (items.length > 0) remaining.set(`${kind.plural}.${kind.group}`, items.length)
      for (const finalizer of items.flatMap(({ metadata }) => metadata.finalizers ?? []))
        finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
    } catch (error) {
      if (context.signal.aborted) throw error
      failures.push(errorText(error))
    }
  }
  return { remaining, finalizers, failures }
}

const counted = (counts: ReadonlyMap<string, number>, verb: string): string =>
  [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${verb} ${count} resource instances`)
    .join(', ')

type Verdict = readonly [type: string, status: 'True' | 'False', reason: string, message: string]

function conditionVerdicts({ remaining, finalizers, failures, discovery }: ContentReport): Verdict[] {
  return [
    discovery === undefined
      ? ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered', 'All resources successfully discovered']
      : ['NamespaceDeletionDiscoveryFailure', 'True', 'DiscoveryFailed', discovery],
    [
      'NamespaceDeletionGroupVersionParsingFailure',
      'False',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ],
    failures.length === 0
      ? [
          'NamespaceDeletionContentFailure',
          'False',
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        ]
      : [
          'NamespaceDeletionContentFailure',
          'True',
          'ContentDeletionFailed',
          `Failed to delete all resource types, ${failures.length} remaining: ${failures.toSorted().join(', ')}`,
        ],
    remaining.size === 0
      ? ['NamespaceContentRemaining', 'False', 'ContentRemoved', 'All content successfully removed']
      : [
          'NamespaceContentRemaining',
          'True',
          'SomeResourcesRemain',
          `Some resources are remaining: ${counted(remaining, 'has')}`,
        ],
    finalizers.size === 0
      ? [
          'NamespaceFinalizersRemaining',
          'False',
          'ContentHasNoFinalizers',
          'All content-preserving finalizers finished',
        ]
      : [
          'NamespaceFinalizersRemaining',
          'True',
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${counted(finalizers, 'in')}`,
        ],
  ]
}

async function updateConditions(
  object: Namespace,
  content: ContentReport,
  nowMs: number,
  client: Client,
  context: Context,
) {
  const before = object.status.conditions ?? []
  const conditions = conditionVerdicts(content).map(([type, status, reason, message]): NamespaceCondition => {
    const known = before.find((condition) => condition.type === type)
    const lastTransitionTime = known?.status === status ? known.lastTransitionTime : rfc3339(nowMs)
    return { type, status, reason, message, ...(lastTransitionTime ? { lastTransitionTime } : {}) }
  })
  if (equalValues(conditions, before, true)) return
  await client.of(namespace).updateStatus({ ...object, status: { ...object.status, conditions } }, context)
}

async function finalize(object: Namespace, client: Client, context: Context): Promise<void> {
  const finalizers = (object.spec.finalizers ?? []).filter((finalizer) => finalizer !== contentFinalizer)
  await client.of(namespace).updateSubresource({ ...object, spec: { finalizers } }, 'finalize', context)
}
