// establishDefinitions: creates CustomResourceDefinitions and waits until their resources are served. The API server
// establishes them by itself; nothing here depends on time.
import { customResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import type { Context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import { Client } from '../../client/client.ts'
import type { Transport } from '../../client/transport/transport.ts'
import { untilEstablished } from '../manifests/until-established.ts'
import { nameOf, type SourcedDefinition } from './read-definitions.ts'

export async function establishDefinitions(
  transport: Transport,
  definitions: readonly SourcedDefinition[],
  context: Context,
): Promise<void> {
  for (const { definition, source } of definitions)
    try {
      await create(transport, definition, context)
    } catch (error) {
      throw new Error(`${source}: ${errorText(error)}`, { cause: error })
    }
  const sources = new Map(definitions.map(({ definition, source }) => [nameOf(definition), source]))
  await untilEstablished(new Client(transport), sources, context)
}

/** Strict, as kubectl is, so that a misspelt keyword of a schema is an error. */
const create = (transport: Transport, body: object, context: Context): Promise<unknown> =>
  transport.send(
    {
      verb: 'create',
      kind: customResourceDefinition,
      namespace: '',
      name: '',
      subresource: '',
      body,
      query: { fieldValidation: 'Strict' },
    },
    context,
  )
