// rewriteObjects: every object of some resources is stored again, unchanged, so that it is encrypted with the present key.
import type { Context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import { apiService } from '../../api/apiregistration/v1/api-service.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { ruleIncludes } from '../../apiserver/encryption/encryption-config.ts'
import type { Client } from '../../client/client.ts'
import { discover } from '../../client/discovery.ts'
import { listAllPages } from '../../client/informer/paged-list.ts'

/** Of objects that could not be stored again. */
const failuresMax = 100
const atOnce = 8

export interface Rewritten {
  readonly objects: number
  /** `secrets default/a: …` */
  readonly failures: readonly string[]
}

/** Objects that have the present key are not written. */
export async function rewriteObjects(client: Client, resources: readonly string[], ctx: Context): Promise<Rewritten> {
  const failures: string[] = []
  let objects = 0
  for (const kind of await storedKinds(client, resources, ctx)) {
    const { items } = await listAllPages(client.metadataOf(kind), {}, ctx)
    const names = items.values()
    const worker = async () => {
      for (const { metadata } of names) {
        objects++
        const failure = await rewritten(client, kind, metadata, ctx)
        if (failure === undefined) continue
        failures.push(failure)
        if (failures.length >= failuresMax) throw new Error(`too many objects could not be written: ${failure}`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
  }
  return { objects, failures }
}

/** Of each resource the preferred version. Those of other servers are not ours to encrypt. */
async function storedKinds(client: Client, resources: readonly string[], ctx: Context): Promise<readonly Kind[]> {
  const [{ kinds }, { items }] = await Promise.all([discover(client, ctx), client.of(apiService).list({}, ctx)])
  const ofOthers = new Set(items.filter(({ spec }) => spec.service !== undefined).map(({ metadata }) => metadata.name))
  return kinds
    .filter(({ isPreferred, verbs }) => isPreferred && verbs.includes('list') && verbs.includes('patch'))
    .map(({ kind }) => kind)
    .filter((kind) => ruleIncludes(resources, kind) && !ofOthers.has(`${kind.version}.${kind.group}`))
}

async function rewritten(
  client: Client,
  kind: Kind,
  { name, namespace = '' }: { readonly name: string; readonly namespace?: string },
  ctx: Context,
): Promise<string | undefined> {
  try {
    await client.of(kind).patch(name, namespace, {}, 'merge', ctx)
    return undefined
  } catch (error) {
    ctx.signal.throwIfAborted()
    if (hasReason(error, 'NotFound')) return undefined // it was deleted meanwhile
    return `${kind.plural} ${namespace === '' ? '' : `${namespace}/`}${name}: ${errorText(error)}`
  }
}
