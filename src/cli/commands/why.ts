// coxswain why: explains why an object is not in its desired state; for a pod also the scheduler's verdict on each
// node.
import { context } from '../../base/observability/context.ts'
import { realClock } from '../../base/time/clock.ts'
import { objectKey } from '../../api/meta/object.ts'
import { discover, type DiscoveryResult } from '../../client/discovery.ts'
import { openRemote } from '../../cluster/client/remote.ts'
import { fetchSchedulingExplanation } from '../../cluster/client/scheduling-explanation.ts'
import { findFlowEvents } from '../../cluster/client/fetch-flow-events.ts'
import { missingObjectText } from '../../flows/missing-object.ts'
import type { ClusterReader } from '../../flows/why/explainer.ts'
import { why as explain } from '../../flows/why/why.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { decisionText } from '../output/decision-text.ts'
import { chooseCluster, clusterOptions, withReachabilityHint } from '../options/choose-cluster.ts'
import { kindIn, namespaceFor, objectOperand } from '../options/named-object.ts'

export const why = defineCommand({
  name: 'why',
  summary: 'explains why an object is not ready, not deleted or has no effect',
  operands: '<kind>/<name>',
  operandsMax: 2,
  options: {
    ...clusterOptions,
    output: { type: 'string', value: 'text|json', short: 'o', help: 'the output format (text)' },
    format: { type: 'string', value: 'text|json', help: 'the same as --output', section: 'Other names' },
  },
  async run({ operands, options }, { out, environment, signal }) {
    const { format, output = format ?? 'text' } = options
    if (output !== 'text' && output !== 'json') throw new UsageError(`--output ${output} is none of text, json`)
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
      let discovered: Promise<DiscoveryResult> | undefined
      const around: ClusterReader = {
        list: async (of, home) => (await client.of(of).list(home === '' ? {} : { namespace: home }, ctx)).items,
        find: (of, home, wanted) => client.of(of).find(wanted, home, ctx),
        async kindOf(apiVersion, kindName) {
          const { kinds } = await (discovered ??= discover(client, ctx))
          return kinds.find((each) => each.kind.apiVersion === apiVersion && each.kind.kind === kindName)?.kind
        },
        nowMs: realClock.nowMs(),
        isCoxswain: recorded !== undefined,
      }
      const explained = await explain(kind, object, around, recorded ?? [])
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
