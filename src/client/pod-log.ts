// podLog: the output of a pod's container.
import type { Context } from '../base/observability/context.ts'
import { pod } from '../api/core/v1/pod/pod.ts'
import type { Client } from './client.ts'
import { pathOf } from './transport/https-transport.ts'

export interface LogOptions {
  /** `default` when omitted. */
  readonly namespace?: string
  /** Required only for pods with several containers. */
  readonly container?: string
  /** Of the container before its last restart. */
  readonly previous?: boolean
  readonly tailLines?: number
  readonly limitBytes?: number
  readonly timestamps?: boolean
}

export function podLog(
  client: Client,
  name: string,
  { namespace = 'default', container, previous = false, tailLines, limitBytes, timestamps = false }: LogOptions,
  context: Context,
): Promise<string> {
  const query = {
    ...(container === undefined ? {} : { container }),
    ...(previous ? { previous: 'true' } : {}),
    ...(tailLines === undefined ? {} : { tailLines: String(tailLines) }),
    ...(limitBytes === undefined ? {} : { limitBytes: String(limitBytes) }),
    ...(timestamps ? { timestamps: 'true' } : {}),
  }
  return client.readText(pathOf({ kind: pod, namespace, name, subresource: 'log', query }), context)
}
