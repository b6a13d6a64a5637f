import {
  customResourceDefinition,
  isEstablished,
  type CustomResourceDefinition,
} from '../../api/apiextensions/v1/custom-resource-definition.ts'
import type { Context } from '../../base/observability/context.ts'
import type { Client } from '../../client/client.ts'

/** Waits until definitions are served; `sources` are their names, and how messages refer to them. */
export async function untilEstablished(
  client: Client,
  sources: ReadonlyMap<string, string>,
  context: Context,
): Promise<void> {
  const missing = new Map(sources)
  const definitions = client.of(customResourceDefinition)
  const { items, revision } = await definitions.list({}, context)
  for (const definition of items) check(definition, missing)
  if (missing.size === 0) return
  for await (const event of definitions.watch({ resourceVersion: String(revision) }, context)) {
    if (event.type === 'ADDED' || event.type === 'MODIFIED') check(event.object, missing)
    if (missing.size === 0) return
  }
  throw new Error(`the watch ended before ${[...missing.keys()].join(', ')} was established`)
}

function check(definition: CustomResourceDefinition, missing: Map<string, string>): void {
  const { name } = definition.metadata
  const source = missing.get(name)
  if (source === undefined) return
  if (isEstablished(definition)) {
    missing.delete(name)
    return
  }
  const refusal = definition.status.conditions?.find(
    ({ type, status }) => type === 'NamesAccepted' && status === 'False',
  )
  if (refusal !== undefined)
    throw new Error(`${source}: ${name} is not served: ${refusal.reason ?? ''}: ${refusal.message ?? ''}`)
}
