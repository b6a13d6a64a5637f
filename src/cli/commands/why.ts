// coxswain why: lists everything that is wrong in the cluster, or explains why an object is not in its desired state; for a
// pod also the scheduler's verdict on each node, or whether it reaches another pod, a Service or an address.
import { pod } from '../../api/core/v1/pod/pod.ts'
import { context } from '../../base/observability/context.ts'
import { realClock } from '../../base/time/clock.ts'
import { openRemote } from '../../cluster/client/remote.ts'
import { missingObjectText } from '../../flows/missing-object.ts'
import { reach, reachText } from '../../flows/reach/reach.ts'
import { parseReachTarget, targetForms } from '../../flows/reach/reach-target.ts'
import { ReachTargetError } from '../../flows/reach/traffic-path.ts'
import { readerOf } from '../../flows/why/explainer/cluster-reader.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { problemsText, readProblems } from '../output/cluster-problems-text.ts'
import { explainedText, explainObject } from '../output/explained-object.ts'
import { chooseCluster, clusterOptions, withReachabilityHint, type ChosenCluster } from '../options/choose-cluster.ts'
import { kindIn, namespaceFor, objectOperand, singularNames } from '../options/named-object.ts'

export const why = defineCommand({
  name: 'why',
  summary: 'lists what is wrong in the cluster, or explains why an object is not ready, not deleted or has no effect',
  operands: '[<kind>/<name>]',
  operandValues: singularNames,
  operandsMax: 2,
  options: {
    ...clusterOptions,
    reach: {
      type: 'string',
      value: '<target>',
      help: 'explains whether a pod reaches pod/<name>:<port>, service/<name>[:<port>] or <address>:<port>',
    },
    'exit-code': { type: 'boolean', help: 'exit with 1 if something is wrong, for CI' },
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
    const codeOf = (isWrong: boolean) => (isWrong && options['exit-code'] ? problemExitCode : 0)
    if (operands.length === 0) {
      const cluster = await chooseCluster(options, environment)
      return withReachabilityHint(cluster, async () => {
        const found = await readProblems(cluster, options.namespace, signal)
        out(output === 'json' ? `${JSON.stringify(found, undefined, 2)}\n` : problemsText(found, options.namespace))
        return codeOf(found.problems.length > 0)
      })
    }
    const { kindName, name } = objectOperand(operands)
    const cluster = await chooseCluster(options, environment)
    return withReachabilityHint(cluster, async () => {
      const kind = await kindIn(cluster, kindName, signal)
      const namespace = namespaceFor(kind, options.namespace ?? cluster.namespace)
      const explained = await explainObject(cluster, { kind, namespace, name }, signal)
      out(output === 'json' ? `${JSON.stringify(explained, undefined, 2)}\n` : explainedText({ kind, name }, explained))
      return codeOf(explained.severity !== 'info')
    })
  },
})

/** The exit code of `--exit-code`; 2 is that of a wrong argument. */
const problemExitCode = 1

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
    const explained = await reach(from, target, readerOf(client, ctx, { nowMs: realClock.nowMs() }))
    return output === 'json' ? `${JSON.stringify(explained, undefined, 2)}\n` : reachText(from, target, explained)
  } catch (error) {
    throw error instanceof ReachTargetError ? new UsageError(error.message, { cause: error }) : error
  }
}
