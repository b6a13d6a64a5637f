// The explanations of `cluster.why()`: what a test reads for them, and whether a pod reaches a target.
import { pod } from '../../api/core/v1/pod/pod.ts'
import { context } from '../../base/observability/context.ts'
import type { Client } from '../../client/client.ts'
import { reach, reachText } from '../../flows/reach/reach.ts'
import { parseReachTarget, targetForms } from '../../flows/reach/reach-target.ts'
import { readerOf } from '../../flows/why/explainer/cluster-reader.ts'

export interface WhyOptions {
  /** Explains whether the pod reaches this target: `pod/b:80`, `service/web`, `service/blue/web:http` or `10.1.2.3:80`. */
  readonly reach?: string
}

/** As text. The target is in the namespace of the pod unless it names another one. */
export async function explainReach(
  client: Client,
  source: { readonly namespace: string; readonly name: string },
  typed: string,
  nowMs: number,
): Promise<string> {
  const target = parseReachTarget(typed, source.namespace)
  if (target === undefined) throw new Error(`${JSON.stringify(typed)} is none of ${targetForms}`)
  const found = await client.of(pod).get(source.name, source.namespace)
  return reachText(
    found,
    target,
    await reach(found, target, readerOf(client, context(new AbortController().signal), { nowMs })),
  )
}
