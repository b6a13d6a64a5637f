// Everything that is wrong in a cluster: read from a running cluster, as text.
import { context } from '../../base/observability/context.ts'
import { realClock } from '../../base/time/clock.ts'
import { findFlowRecord } from '../../cluster/client/fetch-flow-events.ts'
import { openRemote } from '../../cluster/client/remote.ts'
import { clusterProblems, type ClusterProblem, type ClusterProblems } from '../../flows/why/cluster-problems.ts'
import { readerOf } from '../../flows/why/explainer/cluster-reader.ts'
import { plural } from '../../flows/why/explainer/explainer.ts'
import { explanationLines, indented } from '../../flows/why/explanation-text.ts'
import type { ChosenCluster } from '../options/choose-cluster.ts'

/** With a namespace, only what is wrong in it. */
export async function readProblems(
  { kubeconfig }: ChosenCluster,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<ClusterProblems> {
  await using remote = await openRemote(kubeconfig, signal)
  const client = remote.clientAs('coxswain why')
  const recorded = await findFlowRecord(kubeconfig, signal)
  const reader = readerOf(client, context(signal), { nowMs: realClock.nowMs(), isCoxswain: recorded !== undefined })
  const problems = await clusterProblems(reader, namespace ?? '', recorded?.events ?? [])
  return { ...problems, notes: [...problems.notes, ...(recorded?.notes ?? [])] }
}

export function problemsText({ problems, omitted, checked, notes }: ClusterProblems, namespace?: string): string {
  const where = namespace === undefined ? 'in the cluster' : `in the namespace ${namespace}`
  const notesText = notes.length === 0 ? '' : `\n${notes.map((line) => `${line}\n`).join('')}`
  if (problems.length === 0) return `No problem found ${where}. Checked: ${plural(checked, 'object')}.\n${notesText}`
  const more = omitted === 0 ? '' : `\n${plural(omitted, 'more problem')} of lower rank are not listed.\n`
  const count = problems.length + omitted
  return `${plural(count, 'problem')} ${where}, the most severe first.\n${problems.map(problemText).join('')}${more}${notesText}`
}

const problemText = ({ severity, object, namespace, waits, fixes }: ClusterProblem): string =>
  `\n${object}${namespace === '' ? '' : ` in ${namespace}`}: ${severity}\n${indented(explanationLines({ waits, notes: [], fixes }))}`
