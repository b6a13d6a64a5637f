// The content of secrets that are passed to drivers.
import type { Context } from '../../../base/observability/context.ts'
import { secret } from '../../../api/core/v1/secret.ts'
import type { Client } from '../../../client/client.ts'
import type { SecretRef } from './class-parameters.ts'

/** The values by key; none without a reference. */
export async function secretValues(
  client: Client,
  ref: Partial<SecretRef> | undefined,
  context: Context,
): Promise<Readonly<Record<string, string>>> {
  if (!ref?.name) return {}
  const { data = {} } = await client.of(secret).get(ref.name, ref.namespace ?? '', context)
  const text = new TextDecoder()
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, text.decode(Uint8Array.fromBase64(value))]),
  )
}
