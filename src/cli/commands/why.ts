// coxswain why: explains why an object is not in its desired state; for a pod also the scheduler's verdict on each
// node, or whether it reaches another pod, a Service or an address.
import { pod } from '../../api/core/v1/pod/pod.ts'
import { context, type Context } from '../../base/observability/context.ts'
import { realClock } from '../../base/time/clock.ts'
import { objectKey } from '../../api/meta/object.ts'
import type { Client } from '../../client/client.ts'
import { discover, type DiscoveryResult } from '../../client/discovery.ts'
import { openRemote } from '../../cluster/client/remote.ts'
import { fetchSchedulingExplanation } from '../../cluster/client/scheduling-explanation.ts'
import { findFlowEvents } from '../../cluster/client/fetch-flow-events.ts'
import { missingObjectText } from '../../flows/missing-object.ts'
import { reach, reachText } from '../../flows/reach/reach.ts'
import { parseReachTarget, targetForms } from '../../flows/reach/reach-target.ts'
import { ReachTargetError } from '../../flows/reach/traffic-path.ts'
import type { ClusterReader } from '../../flows/why/explainer.ts'
import { why as explain } from '../../flows/why/why.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { decisionText } from '../output/decision-text.ts'
import { chooseCluster, clusterOptions, withReachabilityHint, type ChosenCluster } from '../options/choose-cluster.ts'
import { kindIn, namespaceFor, objectOperand } from '../options/named-object.ts'

export const why = defineCommand({
  name: 'why',
  summary: 'explains why an object is not ready, not deleted or has no effect',
  operands: '<kind>/<name>',
  operandsMax: 2,
  options: {
    ...clusterOptions,
    reach: {
      type: 'string',
      value: '<target>',
      help: 'explains whether a pod reaches pod/<name>:<port>, service/<name>[:<port>] or <address>:<port>',
    },
    output: { type: 'string', value: 'text|json', short: 'o', help: 'the output format (text)' },
    format: { type: 'string', value: 'text|json', help: 'the same as --output', section: 'Other names' },
  },
  async run({ operands, options }, { out, environment, signal }) {
    const { format, output = format ?? 'text' } = options
    if (output !== 'text' && output !== 'json') throw new UsageError(`--output ${output} is none of text, json`)
    const { reach: typed } = options
    if (typed !== undefined) {
      const namespace = options.namespace
      // Arguments are checked before the cluster, which provides the default namespace.
      const asked = reachOperands(operands, typed, namespace ?? '')
      const cluster = await chooseCluster(options, environment)
      return withReachabilityHint(cluster, async () => {
        const known = namespace === undefined ? reachOperands(operands, typed, cluster.namespace) : asked
        out(await explainReach(cluster, known, output, signal))
        return 0
      })
    }
    const { kindName, name } = objectOperand(operands)
    const cluster = await chooseCluster(options, environment)
    const { kubeconfig } = cluster
    return withReachabilityHint(cluster, async () => {
      const kind = await kindIn(cluster, kindName, signal)
      const namespace = namespaceFor(kind, options.namespace ?? cluster.namespace)
      await using remote = await openRemote(kubeconfig, signal)
      const client = remote.clientAs('coxswain why')
      const ctx = context(signal)
      const object = await client.of(kind).find(name, namespace, ctx)
      if (object === undefined) {
        const { items } = await client.metadataOf(kind).list({}, ctx)
        const known = items.map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name }))
        throw new UsageError(missingObjectText(kind, { namespace, name }, known))
      }
      const recorded = await findFlowEvents(kubeconfig, signal)
      const around = readerOf(client, ctx)
      const isCoxswain = recorded !== undefined
      const explained = await explain(kind, object, { ...around, isCoxswain }, recorded ?? [])
      const decision =
        kind.plural === 'pods'
          ? await fetchSchedulingExplanation(kubeconfig, objectKey(namespace, name), signal)
          : undefined
      if (output === 'json') {
        out(`${JSON.stringify({ ...explained, decision }, undefined, 2)}\n`)
        return 0
      }
      const { waits, tried, summary } = explained
      out(`${kind.singular}/${name}\n`)
      for (const sentence of waits.length === 0 ? [summary] : waits) out(`  ${sentence}\n`)
      if (tried.length > 0) out(`\nWhat was tried:\n${tried.map((line) => `  ${line}\n`).join('')}`)
      if (decision !== undefined) out(`\n${decisionText(decision)}`)
      return 0
    })
  },
})

function readerOf(client: Client, ctx: Context): ClusterReader {
  let discovered: Promise<DiscoveryResult> | undefined
  return {
    list: async (of, home) => (await client.of(of).list(home === '' ? {} : { namespace: home }, ctx)).items,
    find: (of, home, wanted) => client.of(of).find(wanted, home, ctx),
    async kindOf(apiVersion, kindName) {
      const { kinds } = await (discovered ??= discover(client, ctx))
      return kinds.find((each) => each.kind.apiVersion === apiVersion && each.kind.kind === kindName)?.kind
    },
    nowMs: realClock.nowMs(),
  }
}

/** The pod and its target. A target without a namespace is in that of the pod. */
function reachOperands(operands: readonly string[], typed: string, namespace: string) {
  const source = parseReachTarget(operands.join('/'), namespace)
  if (source?.kind !== 'pod' || source.port !== undefined)
    throw new UsageError('--reach explains what one pod reaches: coxswain why pod/<name> --reach <target>')
  const target = parseReachTarget(typed, source.namespace)
  if (target === undefined) throw new UsageError(`--reach ${JSON.stringify(typed)} is none of ${targetForms}`)
  return { source, target }
}

async function explainReach(
  { kubeconfig }: ChosenCluster,
  { source, target }: ReturnType<typeof reachOperands>,
  output: 'json' | 'text',
  signal: AbortSignal,
): Promise<string> {
  await using remote = await openRemote(kubeconfig, signal)
  const client = remote.clientAs('coxswain why')
  const ctx = context(signal)
  const from = await client.of(pod).find(source.name, source.namespace, ctx)
  if (from === undefined) {
    const { items } = await client.metadataOf(pod).list({}, ctx)
    const known = items.map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name }))
    throw new UsageError(missingObjectText(pod, source, known))
  }
  try {
    const explained = await reach(from, target, readerOf(client, ctx))
    return output === 'json' ? `${JSON.stringify(explained, undefined, 2)}\n` : reachText(from, target, explained)
  } catch (error) {
    throw error instanceof ReachTargetError ? new UsageError(error.message, { cause: error }) : error
  }
}
