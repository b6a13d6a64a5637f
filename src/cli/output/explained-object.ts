// Why an object is not in its desired state: read from a running cluster, as text.
import { context } from '../../base/observability/context.ts'
import { realClock } from '../../base/time/clock.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { objectKey } from '../../api/meta/object.ts'
import { openRemote } from '../../cluster/client/remote.ts'
import { fetchSchedulingExplanation } from '../../cluster/client/scheduling-explanation.ts'
import { findFlowRecord } from '../../cluster/client/fetch-flow-events.ts'
import { missingObjectText } from '../../flows/missing-object.ts'
import { readerOf } from '../../flows/why/explainer/cluster-reader.ts'
import { explanationText } from '../../flows/why/explanation-text.ts'
import { why as explain, type Why } from '../../flows/why/why.ts'
import { UsageError } from '../command/command.ts'
import type { ChosenCluster } from '../options/choose-cluster.ts'
import { decisionText } from './decision-text.ts'

export interface ExplainedObject extends Why {
  /** The scheduler's decision about a pod. */
  readonly decision: Awaited<ReturnType<typeof fetchSchedulingExplanation>>
}

export async function explainObject(
  { kubeconfig }: ChosenCluster,
  { kind, namespace, name }: { readonly kind: Kind; readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<ExplainedObject> {
  await using remote = await openRemote(kubeconfig, signal)
  const client = remote.clientAs('coxswain why')
  const ctx = context(signal)
  const object = await client.of(kind).find(name, namespace, ctx)
  if (object === undefined) {
    const { items } = await client.metadataOf(kind).list({}, ctx)
    const known = items.map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name }))
    throw new UsageError(missingObjectText(kind, { namespace, name }, known))
  }
  const recorded = await findFlowRecord(kubeconfig, signal)
  const around = readerOf(client, ctx, { nowMs: realClock.nowMs(), isCoxswain: recorded !== undefined })
  const explained = await explain(kind, object, around, recorded?.events ?? [])
  const decision =
    kind.plural === 'pods'
      ? await fetchSchedulingExplanation(kubeconfig, objectKey(namespace, name), signal)
      : undefined
  return { ...explained, notes: [...explained.notes, ...(recorded?.notes ?? [])], decision }
}

export const explainedText = (
  { kind, name }: { readonly kind: Kind; readonly name: string },
  { decision, ...explained }: ExplainedObject,
): string =>
  explanationText(`${kind.singular}/${name}`, explained, decision === undefined ? '' : decisionText(decision))

export async function explainedLines(
  cluster: ChosenCluster,
  object: { readonly kind: Kind; readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<readonly string[]> {
  return explainedText(object, await explainObject(cluster, object, signal))
    .trimEnd()
    .split('\n')
}
